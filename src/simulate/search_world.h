#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "base/units.h"

namespace stint {

/// A cluster and a batch that can be trained on, as measured.
struct SearchSetup {
  std::vector<int> workers_by_vm;
  int batch = 1;  // Global.
  Seconds step;
};

/// A point of a measured run: its progress to the level, as a share.
struct WayPoint {
  double way = 0;
  double steps = 0;
  std::optional<double> noise = {};  // Φ of the epoch that ends here, in samples.
};

/// A run from its start (way 0) to the level (way 1), with linear interpolation.
using WayCurve = std::vector<WayPoint>;

double steps_at(const WayCurve& curve, double way);
double way_at(const WayCurve& curve, double steps);

/// The noise of the epoch of this progress; at an end of an epoch, of the one that ends.
std::optional<double> noise_at(const WayCurve& curve, double way);

/// The simulated world of a search. Equal progress to the level is equivalent at any batch, so that
/// a run that changes its batch continues at the same progress.
struct SearchWorld {
  std::vector<SearchSetup> setups;
  std::map<int, WayCurve> curves;  // By batch; one for each batch of a setup.
  DollarsPerSecond vm_price;
  // From one setup to another: save, start, load. The new machines are paid during it.
  Seconds move;

  DollarsPerSecond rate(std::size_t setup) const {
    return static_cast<double>(setups[setup].workers_by_vm.size()) * vm_price;
  }
};

/// A training in that world.
class SearchedRun {
 public:
  SearchedRun(const SearchWorld& world, std::size_t start) : world_(&world), now_(start) {}

  std::size_t now() const { return now_; }
  double way() const { return way_; }
  bool done() const { return way_ >= 1; }
  Seconds time() const { return time_; }
  Dollars cost() const { return cost_; }
  int moves() const { return moves_; }

  void move(std::size_t to);

  /// Trains this many steps, or to the level if that is nearer.
  void train(double steps);

  /// Trains to the end of the epoch, or to the level if that is nearer.
  void train_epoch();

  std::optional<double> noise() const;

 private:
  const WayCurve& curve() const { return world_->curves.at(world_->setups[now_].batch); }
  void advance(double way);

  const SearchWorld* world_;
  std::size_t now_;
  double way_ = 0;
  Seconds time_;
  Dollars cost_;
  int moves_ = 0;
};

/// The clairvoyant optimum from a setup to the level, with as many moves as pay, at shares of the
/// progress that are multiples of 1/kSeerPlaces: by dynamic programming backwards from the level.
inline constexpr int kSeerPlaces = 400;
Seconds least_time(const SearchWorld& world, std::size_t start);
Dollars least_cost(const SearchWorld& world, std::size_t start);

}  // namespace stint
