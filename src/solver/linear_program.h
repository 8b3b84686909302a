#pragma once

#include <limits>
#include <vector>

#include "base/result.h"

namespace stint {

/// A variable, and its cost per unit.
struct LinearVariable {
  double cost = 0;
  double min = 0;
  double max = std::numeric_limits<double>::infinity();
  bool integer = false;
};

struct LinearTerm {
  int variable = 0;  // The first is 0.
  double factor = 0;
};

/// min ≤ Σ factor · variable ≤ max. Terms of the same variable add up.
struct LinearRow {
  std::vector<LinearTerm> terms;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};

/// Minimise Σ cost · variable over the values that keep every row and every variable in its range.
struct LinearProgram {
  std::vector<LinearVariable> variables;
  std::vector<LinearRow> rows;
  int nodes_max = 100'000;  // For branch and bound with integers; beyond, it is a failure.
};

enum class LinearOutcome {
  kOptimal,
  // No point satisfies all rows; a range whose min exceeds its max is of this kind too.
  kInfeasible,
  kUnbounded,  // The cost of feasible points is unbounded below.
};

struct LinearSolution {
  LinearOutcome outcome = LinearOutcome::kOptimal;
  // The following is defined only when optimal.
  std::vector<double> values;  // In the order of the variables.
  double cost = 0;
  double bound = 0;            // Lower bound of the cost; see below.
  std::vector<double> prices;  // Change of cost per unit of each row's range; none with integers.
};

/// Solves with CLP or, when a variable is an integer, with CBC on top. Single-threaded, silent, and
/// the same answer each time: what bounds the work is counts, not clocks.
///
/// Variables keep their ranges exactly and integers are exact. Rows are kept to 1e-9, absolute, so
/// state them in units in which that is nothing; values are optimal for costs that are off by up to
/// 1e-9 of the largest. Integers are branched on until they are within 1e-6, then rounded, and the
/// other variables are chosen anew for them; a cost lower by less than 1e-9 of the largest cost is
/// not searched for. Exhausted nodes or lost precision are failures.
///
/// `bound` is safe to prune with. It is the dual value, with rounding accounted for:
///
///   Σᵢ min(yᵢ · row i's range) + Σⱼ min((cⱼ − Σᵢ aᵢⱼ yᵢ) · variable j's range)
///
/// which for any y is below the cost of everything that keeps the rows exactly (Neumaier and
/// Shcherbina, 2004), so `cost` itself may lie a little lower by using the tolerance of the rows.
/// A side on which a variable has no bound counts as 1e6 times the largest of `values` and 1: to be
/// safe beyond that, give the variable a bound. With integers, `bound` is of the program without
/// their being integers.
///
/// Requires finite costs and factors, and terms that name variables there are.
Result<LinearSolution> solve(const LinearProgram& program);

}  // namespace stint
