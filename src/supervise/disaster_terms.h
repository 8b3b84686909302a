#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "risk/cluster_policy.h"
#include "risk/deadline_baselines.h"
#include "supervise/run_terms.h"

namespace stint {

/// The failures of a simulated world. Rates are per minute; the others are probabilities.
struct Unkindness {
  double loss = 0;            // Loss of a spot machine.
  double on_demand_loss = 0;  // Loss of an on-demand machine that trains.
  double receiver_loss = 0;   // Loss of a machine that holds checkpoints.
  double refusal = 0;         // Refusal of a launch on the spot market.
  double on_demand_refusal = 0;
  double slow_launch = 0;   // A launch that takes longer than it should.
  double comes_anyway = 0;  // A launch that completes although it was cancelled.
  double unannounced = 0;   // A loss without a notice.
  double false_notice = 0;  // A notice without a loss.
  double crash = 0;         // Crash of a worker, in each step.
  double save_failure = 0;
  double silence = 0;   // A failed checkpoint that is not reported.
  double twice = 0;     // An event that is reported twice.
  double late = 0;      // An event that is reported late.
  double lie = 0;       // A clock that is wrong by some minutes.
  double nonsense = 0;  // An impossible event.
  double noise = 0;     // Largest relative deviation of step times.
  double follows = 0;   // A requested plan that is made.
  bool capacity = false;
  bool prices = false;
  bool terms = false;
  bool stop = false;

  /// A world in which events are reported once, at once and correctly.
  bool honest() const { return late == 0 && lie == 0 && comes_anyway == 0; }
};

/// The scenario: the terms and the failures.
struct Disaster {
  RunTerms terms = {};
  Unkindness unkindness = {};
  double speed = 1;  // Step time over predicted step time.
  int policy = 0;    // Number of the policy.
  std::uint64_t policy_seed = 0;
  int crash_after = 0;          // Events; zero: never.
  bool keeps_deadline = false;  // No failure in this world excuses a missed deadline.
};

/// The true state of a machine, whatever the supervisor believes.
struct DisasterMachine {
  Market market = Market::kOnDemand;
  bool trains = true;
  DollarsPerSecond price;  // On-demand price.
  bool up = false;
  bool gone = false;
  Seconds since = {};
  Dollars cost = {};
  std::optional<std::int64_t> holds = {};  // Step of the state that the machine's worker has.
};

/// Step time of machines that share the work evenly, with a small cost of communication.
inline Seconds world_step_time(int machines) { return (24.0 / machines + machines) * kSecond; }

/// The same for machines of which so many hold one replica of the model; others are idle.
inline StepTime step_time_of_replicas(int multiple) {
  return [multiple](std::span<const int> slots) {
    const int count = static_cast<int>(slots.size());
    const int trains = count - count % multiple;
    if (trains == 0) return std::numeric_limits<double>::infinity() * kSecond;
    return world_step_time(trains);
  };
}

/// A policy that holds random numbers of machines.
class ErraticPolicy : public DeadlinePolicy {
 public:
  explicit ErraticPolicy(std::uint64_t seed) : random_(seed) {}

  void begin(const DeadlineGame& game, std::span<const int> /*past*/) override {
    machines_ = game.machines;
  }

  Holding choose(const GameState& state) override {
    const int spot = random_.below(state.available + 1);
    return {.spot = spot, .on_demand = random_.below(machines_ - spot + 1)};
  }

 private:
  Random random_;
  int machines_ = 1;
};

inline std::unique_ptr<DeadlinePolicy> make_policy(const Disaster& disaster) {
  int machines = 0;
  for (const RunSlot& slot : disaster.terms.slots) machines += slot.trains ? 1 : 0;
  switch (disaster.policy) {
    case 0:
      return nullptr;
    case 1:
      return std::make_unique<ErraticPolicy>(disaster.policy_seed);
    case 2:
      return std::make_unique<SpotOnly>();
    case 3:
      return std::make_unique<UniformProgress>();
    default:
      return std::make_unique<ClusterPolicy>(CountBelief(machines));
  }
}

inline std::vector<RunSlot> draw_slots(Random& random, DollarsPerSecond spot, int machines) {
  std::vector<RunSlot> slots;
  const int receivers = std::max(0, random.below(5) - 2);
  for (int i = 0; i < machines + receivers; ++i) {
    slots.push_back({.type = random.below(4) == 0 ? "a" : "b",
                     .trains = i < machines,
                     .market = random.below(3) == 0 ? Market::kOnDemand : Market::kSpot,
                     .spot = spot,
                     .on_demand = 1 * kDollar / kHour});
  }
  if (random.below(2) == 0) std::rotate(slots.begin(), slots.end() - receivers, slots.end());
  return slots;
}

/// A different plan for the same run.
inline RunTerms draw_new_slots(Random& random, RunTerms terms, DollarsPerSecond spot) {
  const int machines = 1 + random.below(4);
  terms.slots = draw_slots(random, spot, machines);
  terms.machines_min = 1 + random.below(machines);
  terms.machines_multiple = 1;
  terms.step_time = step_time_of_replicas(1);
  terms.deadline.reset();
  terms.budget.reset();
  return terms;
}

/// The time in which DeadlineWatch guarantees the end, counted from the start of the run.
inline Seconds promised_time(const RunTerms& terms, int machines) {
  return 2 * terms.tick + terms.start_up + 2 * terms.regroup + 2 * terms.save_time +
         static_cast<double>(terms.steps) * world_step_time(machines) * terms.slower;
}

inline Disaster draw_disaster(std::uint64_t seed) {
  Random random(seed);
  const auto often = [&](double most) {
    return random.below(2) == 0 ? 0 : random.uniform(0, most);
  };
  Disaster disaster;
  RunTerms& terms = disaster.terms;
  const int machines = 1 + random.below(4);
  terms.slots = draw_slots(random, 0.3 * kDollar / kHour, machines);
  terms.machines_min = 1 + random.below(machines);
  // A replica of the model on two machines.
  if (machines % 2 == 0 && terms.machines_min == 2) terms.machines_multiple = 2;
  terms.steps = 5 + random.below(random.below(5) == 0 ? 200 : 60);
  terms.step_time = step_time_of_replicas(terms.machines_multiple);
  terms.save_every = random.uniform(0.5, 10) * kMinute;
  terms.patience = 90 * kMinute;
  disaster.speed = random.below(3) == 0 ? random.uniform(0.5, 2) : random.uniform(0.9, 1.1);
  if (random.below(3) == 0) disaster.crash_after = 1 + random.below(200);
  disaster.policy_seed = random.bits();

  const Seconds promised = promised_time(terms, machines);
  const bool timed = random.below(2) == 0;
  if (timed) terms.deadline = random.uniform(0.4, 3) * promised;
  if (timed) disaster.policy = random.below(30) == 0 ? 4 : random.below(4);
  disaster.unkindness = {.loss = often(0.3),
                         .unannounced = random.uniform(),
                         .false_notice = often(0.3),
                         .twice = often(0.3),
                         .nonsense = often(0.1),
                         .noise = often(0.1),
                         .capacity = random.below(2) == 0,
                         .prices = random.below(4) == 0};
  Unkindness& unkind = disaster.unkindness;
  unkind.refusal = often(0.95);
  disaster.keeps_deadline = timed && random.below(2) == 0 && terms.deadline >= promised;
  if (disaster.keeps_deadline) {
    // The speed lies within the interval of the prediction, with the noise.
    disaster.speed = random.uniform(0.7, terms.slower / (1 + unkind.noise));
    return disaster;
  }
  if (random.below(3) == 0) terms.budget = random.uniform(0.01, 1) * kDollar;
  unkind.on_demand_loss = often(0.05);
  unkind.receiver_loss = often(0.1);
  unkind.on_demand_refusal = often(0.9);
  unkind.slow_launch = often(0.3);
  unkind.comes_anyway = often(0.5);
  unkind.crash = often(0.1);
  unkind.save_failure = random.below(20) == 0 ? 1 : often(0.7);
  unkind.silence = often(0.5);
  unkind.late = often(0.7);
  unkind.lie = often(0.2);
  unkind.follows = often(0.8);
  unkind.terms = random.below(4) == 0;
  unkind.stop = random.below(8) == 0;
  return disaster;
}

}  // namespace stint
