#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "measure/tables/availability_trace.h"
#include "risk/hazard.h"

namespace stint {

/// The dependence of losses of the machines of one pool. A machine is lost at the rate of its
/// hazard, but a share of its losses occurs in shocks that affect the whole pool: each shock takes
/// every machine with a probability drawn from Beta(1, b), whose mean 1/(1 + b) is its reach. With
/// r the rate of one machine, n machines have
///
///   events(n) = r ((1 − shared) n + shared (1 + b) n / (b + n))
///
/// loss events per second, which is r n when nothing is shared.
struct GroupLoss {
  double shared = 0;   // Share of losses that occur in shocks, 0 to 1; 0: machines are independent.
  double reach = 0.5;  // Mean share of the pool that a shock takes; above 0 and below 1.

  bool operator==(const GroupLoss&) const = default;
};

/// The rate of loss events among `machines`. At most machines × rate.
PerSecond events_rate(const GroupLoss& group, int machines, PerSecond rate);

// Below, `amount` is the integrated rate of one machine (Hazard::cumulative), all of one age.

/// P(all machines outlive `amount`).
double all_survive(const GroupLoss& group, int machines, double amount);

/// P(k machines are left after `amount`) for k from 0 to `machines`.
std::vector<double> left_distribution(const GroupLoss& group, int machines, double amount);

/// A summary of a distribution of machines left.
struct MachinesLeft {
  double mean = 0;
  int p10 = 0;  // 10th percentile.
  int p90 = 0;
};
MachinesLeft summary_of(const std::vector<double>& left);

/// The share of loss events among `machines` that take all of them. Requires one machine or more.
double all_lost_share(const GroupLoss& group, int machines);

/// A random number of `machines` lost in one event. Requires one machine or more.
int sample_event_size(const GroupLoss& group, int machines, Random& random);

/// The model of maximum likelihood for the drops of counts from tick to tick, given the loss rate
/// of one machine that they show. A tick in which the count does not fall counts as one without
/// losses, since launches and losses cannot be separated. Nothing when the traces have no drops of
/// pools of two machines or more.
std::optional<GroupLoss> fit_group_loss(std::span<const AvailabilityTrace> traces);

}  // namespace stint
