#pragma once

namespace stint {

/// How the risk of missing a deadline is weighed where no probability of keeping it is demanded.
struct MissCharge {
  double bills;        // What a miss costs, in bills of the plan itself.
  double least = 0.5;  // Plans that keep the deadline with a lower probability are not considered.

  bool operator==(const MissCharge&) const = default;
};

/// The charge that is even with a demand for the confidence p:
///
///   ln(p / (1 − p)), at least zero
///
/// 2.9 bills at 95 %. Requires a confidence between 0 and 1.
MissCharge miss_charge(double confidence);

/// The factor on the cost of a plan that keeps the deadline with probability P:
///
///   1 + bills · (1 − P)
///
/// It is never below one and falls with P, so that a lower bound of the cost, or one of the cost
/// and an upper bound of P, bounds the product.
double risk_factor(const MissCharge& charge, double probability);

}  // namespace stint
