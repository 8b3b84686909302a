#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "measure/tables/availability_trace.h"
#include "risk/hazard.h"

namespace stint {

/// How losses of the machines of one pool hang together. A machine is lost as often as its hazard
/// says, but a share of its losses comes in shocks that hit the whole pool: each shock takes every
/// machine with a probability that it draws from Beta(1, b), whose mean 1/(1 + b) is its reach.
/// With r the rate of one machine, n machines lose any
///
///   events(n) = r ((1 − shared) n + shared (1 + b) n / (b + n))
///
/// times per second, which is r n when nothing is shared.
struct GroupLoss {
  double shared = 0;   // Share of losses that come in shocks, 0 to 1; 0: machines are independent.
  double reach = 0.5;  // Mean share of the pool that a shock takes; above 0 and below 1.

  bool operator==(const GroupLoss&) const = default;
};

/// How often any of `machines` is lost. At most machines × rate.
PerSecond events_rate(const GroupLoss& group, int machines, PerSecond rate);

// Below, `amount` is the integrated rate of one machine (Hazard::cumulative), all of one age.

/// P(all machines outlive `amount`).
double all_survive(const GroupLoss& group, int machines, double amount);

/// P(k machines are left after `amount`) for k from 0 to `machines`.
std::vector<double> left_distribution(const GroupLoss& group, int machines, double amount);

/// What a distribution of machines left comes down to.
struct MachinesLeft {
  double mean = 0;
  int p10 = 0;  // One time in ten there are no more than this.
  int p90 = 0;
};
MachinesLeft summary_of(const std::vector<double>& left);

/// How many of `machines` a loss takes at once. Requires one machine or more.
int sample_event_size(const GroupLoss& group, int machines, Random& random);

/// The model under which the drops of counts from tick to tick are most likely, given the rate of
/// one machine that they show. A tick in which the count does not fall counts as one without
/// losses, since what comes and what goes cannot be told apart. Nothing when the traces have no
/// drops of pools of two machines or more.
std::optional<GroupLoss> fit_group_loss(std::span<const AvailabilityTrace> traces);

}  // namespace stint
