#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "base/units.h"

namespace stint {

/// A cluster and batch that a training can go on with, as measured.
struct SearchSetup {
  std::vector<int> workers_by_vm;
  int batch = 1;  // Global.
  Seconds step;
};

/// A moment of a measured run: its share of the way to the level.
struct WayPoint {
  double way = 0;
  double steps = 0;
  std::optional<double> noise = {};  // Φ of the epoch that ends here, in samples.
};

/// A run from its beginning (way 0) to the level (way 1), on straight lines between.
using WayCurve = std::vector<WayPoint>;

double steps_at(const WayCurve& curve, double way);
double way_at(const WayCurve& curve, double steps);

/// The noise of the epoch that the way lies in; at its end, of the one that ends.
std::optional<double> noise_at(const WayCurve& curve, double way);

/// All that a training can meet. What is equal on the way to the level is equal at any batch, so
/// that a run that changes its batch goes on at the same share of the way.
struct SearchWorld {
  std::vector<SearchSetup> setups;
  std::map<int, WayCurve> curves;  // By batch; one for each that a setup has.
  DollarsPerSecond vm_price;
  Seconds move;  // From one setup to another: save, start, load. The new machines are paid for it.

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

  /// Trains so many steps, or to the level if that is nearer.
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

/// The least that anyone can take from a setup to the level who knows the world, with as many moves
/// as pay, at shares of the way that are multiples of 1/kSeerPlaces: by dynamic programming
/// backwards from the level.
inline constexpr int kSeerPlaces = 400;
Seconds least_time(const SearchWorld& world, std::size_t start);
Dollars least_cost(const SearchWorld& world, std::size_t start);

}  // namespace stint
