#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "app/risk/simulate_plan.h"
#include "base/check.h"
#include "load/checkpoint_times.h"
#include "load/predict_inputs.h"
#include "optimise/answer.h"
#include "optimise/search_fixture.h"

namespace stint {

/// A spot pool in which plans are compared with their rehearsals.
struct ModelPool {
  std::string name;
  Hazard hazard = Hazard::constant({});
  GroupLoss group = {};
  bool notice = false;    // Of 30 s, as on Google Cloud.
  bool on_demand = true;  // Whether on-demand machines replace lost ones.
};

/// Constant, young deaths and ageing with the same mean life of about 20 h, shocks, and what
/// Google's pools showed.
inline std::vector<ModelPool> model_pools() {
  const Hazard constant = Hazard::constant(0.05 / kHour);
  const Hazard young({{Seconds{}, 1 / kHour}, {0.5 * kHour, 0.03 / kHour}});
  const Hazard ageing({{Seconds{}, 0.005 / kHour}, {10 * kHour, 0.1 / kHour}});
  const auto google = load_spot_prior();
  CHECK(google.ok());
  const GroupLoss shocks{.shared = 0.5, .reach = 0.4};
  return {{.name = "constant", .hazard = constant},
          {.name = "constant, notice", .hazard = constant, .notice = true},
          {.name = "constant, waits", .hazard = constant, .on_demand = false},
          {.name = "young deaths", .hazard = young},
          {.name = "young deaths, waits", .hazard = young, .on_demand = false},
          {.name = "ageing", .hazard = ageing},
          {.name = "shocks", .hazard = constant, .group = shocks},
          {.name = "shocks, notice, waits",
           .hazard = constant,
           .group = shocks,
           .notice = true,
           .on_demand = false},
          {.name = "Google's", .hazard = google->hazard.typical, .group = google->group},
          {.name = "Google's, notice",
           .hazard = google->hazard.typical,
           .group = google->group,
           .notice = true}};
}

/// A plan by its size.
struct ModelPlan {
  int machines = 1;
  Seconds work = 10 * kHour;
  Bytes checkpoint = 1 * kGB;
};

/// What a plan says, and what its rehearsals show.
struct ModelComparison {
  Plan plan;
  RunSummary runs;

  double time_error() const { return plan.time.mean / runs.time.mean - 1; }
  double cost_error() const { return plan.cost.mean / runs.cost.mean - 1; }
  /// Whether the plan errs by no more than 5 %, a fifth of the share that losses and checkpoints
  /// add to the work, and three standard errors of the runs.
  bool close() const {
    const Seconds work = static_cast<double>(*plan.iterations) * plan.prediction->iteration.mean;
    const double tolerance = 0.05 + 0.2 * (runs.time.mean / work - 1);
    return runs.finished == 1 && std::abs(time_error()) <= tolerance + 3 * time_noise() &&
           std::abs(cost_error()) <= tolerance + 3 * cost_noise();
  }

  double time_noise() const { return runs.time.standard_error / runs.time.mean; }
  double cost_noise() const { return runs.cost.standard_error / runs.cost.mean; }
};

/// A T4 costs 1 USD/h on demand and 0.4 on spot; 87 s to start, 30 s to regroup. Nothing where a
/// run would hardly ever end.
inline std::optional<ModelComparison> compare(const ModelPool& pool, const ModelPlan& size,
                                              const SimulateOptions& options,
                                              std::optional<double> slack = {}) {
  PolicyFixture fixture;
  keep_types(fixture, {"slow.1"});
  fixture.price("slow.1", pool.on_demand ? std::optional(1.0) : std::nullopt, 0.4);
  fixture.type("slow.1").provider = pool.notice ? "gcp" : "x";
  PlanQuestion& question = fixture.question;
  question.constraints.providers.clear();
  question.constraints.vms_max = size.machines;
  fixture.predict.job.checkpoint = CheckpointSize{.bytes = size.checkpoint};
  // 128 samples at 3 ms, and an update of 2 ms.
  const Seconds step = (128.0 / size.machines * 3 + 2) * kMillisecond;
  question.work.choices = {{.global_batch = 128, .iterations = std::round(size.work / step)}};
  question.outlook.spot = {
      .hazard = {.typical = pool.hazard, .low = pool.hazard, .high = pool.hazard, .origin = "here"},
      .group = pool.group};
  question.outlook.spot_start_up = {87 * kSecond, 5.5 * kSecond};
  question.outlook.on_demand_start_up = {71 * kSecond, 7.4 * kSecond};
  question.outlook.regroup = 30 * kSecond;
  question.outlook.host_copy = host_copy();
  if (slack) question.constraints.deadline = *slack * size.work;
  const SearchFixture search(question);
  const Config config{
      .parts = {{{.rental = search.rental("slow.1", Market::kSpot), .vms = size.machines}}}};
  const auto found = search.evaluator.with_cheapest_save(config);
  if (!found) return std::nullopt;
  const Plan plan = plan_of(search.evaluator, *found);
  const auto run = planned_run(question, search.space, plan);
  CHECK(run.ok());
  return ModelComparison{.plan = plan, .runs = simulate_planned(*run, goal_of(question), options)};
}

}  // namespace stint
