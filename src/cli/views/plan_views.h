#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/plan/explain_case.h"
#include "cli/views/view.h"
#include "plan/plan.h"

namespace stint {

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, PartOf<Dollars>>& it) {
  walk.field("part", it.name, "Name of the part.");
  walk.number("usd", it.amount, kDollar, "Amount of the part.");
  walk.field("share", it.share, "Share of the total.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, PartOf<Seconds>>& it) {
  walk.field("part", it.name, "Name of the part.");
  walk.number("s", it.amount, kSecond, "Duration of the part.");
  walk.field("share", it.share, "Share of the total.");
}

}  // namespace stint

namespace stint::cli {

struct FlipView {
  std::optional<double> price_up;
  std::optional<double> runner_up_price_down;
  std::optional<double> time_up;
  std::optional<double> p_time_up;
  double time_interval = 0;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, FlipView>& it) {
  walk.field("price_up", it.price_up, "Relative rise of the prices of the plan's VMs.");
  walk.field("runner_up_price_down", it.runner_up_price_down,
             "Relative fall of the prices of the runner-up's VMs.");
  walk.field("time_up", it.time_up, "Relative rise of the time of the plan's iterations.");
  walk.field("p_time_up", it.p_time_up, "Probability of that rise.", kShare);
  walk.field("time_interval", it.time_interval,
             "Half of the 80 % interval of the plan's time, relative.");
}

struct RunnerUpView {
  int plan = 1;
  std::string cluster;
  Dollars dearer;
  Seconds longer;
  std::optional<PartOf<Dollars>> dearer_by;
  std::optional<PartOf<Seconds>> longer_by;
  std::optional<FlipView> flip;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, RunnerUpView>& it) {
  walk.field("plan", it.plan, "Number of the plan, from 1.", {.range = Range::kAtLeastOne});
  walk.field("cluster", it.cluster, "VMs, as text.");
  walk.number("dearer_usd", it.dearer, kDollar, "Cost beyond that of the plan.");
  walk.number("longer_s", it.longer, kSecond, "Time beyond that of the plan.");
  walk.field("dearer_by", it.dearer_by, "Part of the bill that differs most.");
  walk.field("longer_by", it.longer_by, "Part of the iterations that differs most.");
  walk.field("flip", it.flip, "Changes that would make both plans equally good.");
}

struct LaterView {
  std::string cluster;
  Seconds deadline;
  Dollars saved;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, LaterView>& it) {
  walk.field("cluster", it.cluster, "VMs, as text.");
  walk.number("deadline_s", it.deadline, kSecond, "Earliest deadline that allows the plan.",
              Range::kNotNegative);
  walk.number("saved_usd", it.saved, kDollar, "Cost saved by the plan.");
}

/// `stint explain`.
struct ExplanationView {
  static constexpr const char* kSchema = "stint.explanation/1";
  static constexpr const char* kTitle = "One plan, part by part";
  std::optional<std::string> job;
  int plan = 1;
  std::string cluster;
  CostRange cost;
  std::vector<PartOf<Dollars>> bill;
  TimeRange time;
  std::vector<PartOf<Seconds>> iteration;
  std::optional<std::int64_t> iterations;
  std::optional<Seconds> training;
  std::optional<Layout> layout;
  std::optional<std::string> parallel_layout;
  std::optional<LayoutEstimate> sharding;
  std::optional<LayoutEstimate> layout_runner_up;
  std::optional<RunnerUpView> runner_up;
  std::optional<LaterView> later;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, ExplanationView>& it) {
  walk.field("job", it.job, "Name of the job.");
  walk.field("plan", it.plan, "Number of the plan, from 1.", {.range = Range::kAtLeastOne});
  walk.field("cluster", it.cluster, "VMs, as text.");
  walk.field("cost_usd", it.cost, "Total cost.");
  walk.field("bill", it.bill, "Parts of the cost, largest first.", kList);
  walk.field("time_s", it.time, "Completion time.");
  walk.field("iteration", it.iteration, "Parts of one iteration, in order.", kList);
  walk.field("iterations", it.iterations, "Number of iterations.", kCount);
  walk.number("training_s", it.training, kSecond, "Time of all iterations, without set-up.",
              Range::kNotNegative);
  walk.field("layout", it.layout, "Split of the job over the cluster.");
  walk.field("parallel_layout", it.parallel_layout,
             "Split of the model over the workers; absent: each has a replica.");
  walk.field("sharding", it.sharding, "The parallel layout taken apart.");
  walk.field("layout_runner_up", it.layout_runner_up,
             "Best layout of other degrees on the same cluster.");
  walk.field("runner_up", it.runner_up, "Next plan of the answer.");
  walk.field("later", it.later, "Cheaper plan that a later deadline would allow.");
}

/// The changes of an iteration; differences may be negative.
struct PartsChangeView {
  IterationParts change;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, PartsChangeView>& view) {
  auto& it = view.change;
  walk.number("forward_s", it.forward, kSecond, "Forward pass.");
  walk.number("backward_s", it.backward, kSecond, "Backward pass.");
  walk.number("exposed_communication_s", it.exposed_communication, kSecond,
              "Communication that backward does not hide.");
  walk.number("straggling_s", it.straggling, kSecond, "Waiting for the slowest worker.");
  walk.number("input_s", it.input, kSecond, "Waiting for data.");
  walk.number("update_s", it.update, kSecond, "Step of the trainer's optimizer.");
}

struct WhatifChangeView {
  Seconds mean;
  PartsChangeView parts;
  double throughput = 0;
  std::optional<Dollars> cost;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, WhatifChangeView>& it) {
  walk.number("mean_s", it.mean, kSecond, "Time of an iteration.");
  walk.field("parts", it.parts, "Parts of the iteration.");
  walk.field("throughput_samples_per_s", it.throughput, "Throughput.");
  walk.number("cost_usd_per_million_samples", it.cost, kDollar, "Cost of a million samples.");
}

/// `stint whatif`.
struct WhatifView {
  static constexpr const char* kSchema = "stint.whatif/1";
  static constexpr const char* kTitle = "Two predictions and their difference";
  std::string job;
  Prediction before;
  Prediction after;
  WhatifChangeView difference;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, WhatifView>& it) {
  walk.field("job", it.job, "Name of the job.");
  walk.document("before", it.before, kPredictionSchema, "Prediction without the change.");
  walk.document("after", it.after, kPredictionSchema, "Prediction with the change.");
  walk.field("difference", it.difference, "Difference, after minus before.");
}

}  // namespace stint::cli
