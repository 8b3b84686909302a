#pragma once

#include <vector>

#include "predict/law.h"

namespace stint {

/// Errors of rows of groups (jobs, systems) that were held out of training, over the reach of the
/// 80 % interval on their side, from which the width of intervals of unseen groups is learned.
class HeldOutErrors {
 public:
  /// A row of a group of `rows`: ln(measured / predicted), and the deviations of the prediction.
  void add(double log_error, const LogSpread& spread, std::size_t rows);

  /// The factor on each side that leaves one in ten of the held-out rows beyond it, every group
  /// counting the same; of few groups little is believed: with what is believed without them, p,
  /// it is f^w p^(1 − w), w = groups / (groups + 1), and groups / (groups + narrowing) for f < p: a
  /// few groups can show that an interval is too narrow, hardly that it is too wide.
  LogSpread factors(std::size_t groups, double believed = 1, double narrowing = 1) const;

 private:
  struct Error {
    double reach = 0;  // Below zero on the other side.
    double weight = 0;
  };

  static double one_in_ten(std::vector<Error> errors);

  std::vector<Error> below_;
  std::vector<Error> above_;
};

}  // namespace stint
