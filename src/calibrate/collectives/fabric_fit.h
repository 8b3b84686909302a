#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/collective_fit.h"
#include "calibrate/collectives/collective_cases.h"
#include "calibrate/collectives/residual_field.h"
#include "calibrate/held_out_width.h"
#include "plan/calibration.h"
#include "predict/collective_law.h"
#include "predict/law.h"
#include "solver/least_squares.h"

namespace stint {

/// The physical law of collectives (predict/collective_law.h), fitted to measured ones of several
/// systems: constants of each kind of link, of each system factors around them, and the deviations
/// of its rows (ResidualField). Far from all rows the law's constants remain, with the spread
/// between systems as their interval. How wide intervals are is learned by holding out rows, curves
/// and, for systems without rows, whole systems (calibrate/held_out_width.h).
class FabricModel {
 public:
  /// Fits log times by least squares with priors and a robust loss. Cases with a note or without a
  /// value do not count; without any the priors remain. The constants of `prior`, where given, are
  /// the priors, each with its own deviation.
  static Result<FabricModel> fit(std::span<const CollectiveCase> cases,
                                 const Calibration* prior = nullptr);

  /// Requires a case without a note.
  CollectiveEstimate estimate(const CollectiveCase& it) const;

  /// The constants for a system that no row describes.
  CollectiveLaw law() const;

  /// The constants with their priors, without date, data or accuracy.
  Calibration to_calibration(const std::string& name) const;

 private:
  /// A system's factors are found among the unknowns from `place` on.
  struct System {
    std::size_t place = 0;
    bool inside = false;   // Has rows inside one VM.
    bool between = false;  // Has rows between VMs.
    InsideTopology link = InsideTopology::kSwitched;
    TransportFamily transport = TransportFamily::kRdma;
  };
  /// A number among the unknowns, and the deviation of a factor that no row tells.
  struct Factor {
    std::optional<std::size_t> place;
    double spread = 0;
  };
  struct Factors {
    Factor inside_latency;
    Factor inside_efficiency;
    Factor between_latency;
    Factor between_efficiency;
    Factor blend;
    Factor collective;  // Efficiency of one collective other than the all-reduce.
  };

  void add_unknowns(std::span<const CollectiveCase> cases, const Calibration* prior);
  Factors factors(const CollectiveCase& it) const;
  static double log_time(std::span<const double> x, const CollectiveLaw& law,
                         const CollectiveCase& it, const Factors& all);
  double fitted_log_time(const CollectiveCase& it) const;
  double law_variance(const CollectiveCase& it) const;
  FieldPoint point_of(const CollectiveCase& it) const;
  void learn_deviations(std::span<const CollectiveCase> cases);
  /// Without the width of intervals.
  static Result<FabricModel> fit_law(std::span<const CollectiveCase> cases,
                                     const Calibration* prior);
  void learn_scales(std::span<const CollectiveCase> cases);
  using GroupOf = std::function<std::string(const CollectiveCase& it)>;

  /// Errors of rows of groups that were left out of the fit.
  struct HeldOut {
    HeldOutErrors errors;
    std::size_t groups = 0;

    LogSpread factors(double believed) const { return errors.factors(groups, believed); }
  };

  /// Leaves each group of cases out of the fit: of those whose system has other rows, or of the
  /// others.
  static Result<HeldOut> hold_out(std::span<const CollectiveCase> cases, const Calibration* prior,
                                  const GroupOf& group_of, bool of_known);
  LogSpread scale_of(const CollectiveCase& it, bool known) const;

  /// The logarithm of a time with its deviation, before its scale.
  struct LogTime {
    double mean = 0;
    double deviation = 0;
    bool same_curve = false;
  };

  LogTime unscaled(const CollectiveCase& it) const;

  std::vector<Unknown> unknowns_;
  std::map<std::string, System> systems_;
  std::map<std::string, std::size_t> collectives_;  // Places, by system and collective.
  std::map<std::string, std::size_t> numbers_;      // Of systems and collectives in the field.
  Fitted fitted_;
  ResidualField field_;
  // Of the width of intervals, so that eight in ten of the rows that are left out lie in them.
  std::map<std::string, double> scale_curves_;
  double scale_all_ = 1;
  // Of a known system where the cluster and collective have no rows.
  LogSpread scale_system_{.below = 1, .above = 1};
  // Of a system without rows, inside one VM and between VMs.
  LogSpread scale_unknown_inside_{.below = 1, .above = 1};
  LogSpread scale_unknown_between_{.below = 1, .above = 1};
};

/// Values of a table's column with their 80 % interval.
struct CollectiveValue {
  double mean = 0;
  double p10 = 0;
  double p90 = 0;
};

CollectiveValue value_of(const CollectiveCase& it, const CollectiveEstimate& estimate);

}  // namespace stint
