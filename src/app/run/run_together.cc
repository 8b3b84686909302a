#include "app/run/run_together.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "app/run/run_forecast.h"
#include "app/share/job_alone.h"
#include "app/share/sharing_models.h"
#include "base/check.h"
#include "base/text.h"
#include "provider/emulated/shared_engine.h"
#include "run/run_folder.h"

namespace stint {
namespace {

// Who has the next place in the rhythm may be this much later than predicted.
constexpr double kPatience = 1.2;

std::string machines_text(const RunPlan& plan) {
  std::vector<std::string> kinds;
  for (const RunMachines& it : plan.machines) {
    kinds.push_back(fmt::format("{}x {}{}{}", it.count, it.type,
                                it.market == Market::kSpot ? ":spot" : "",
                                it.trains ? "" : " for checkpoints"));
  }
  return join(kinds, " + ");
}

Status check_machines(const RunTogetherRequest& request, const PreparedRun& first,
                      const PreparedRun& second) {
  const std::string a = machines_text(first.record.plan);
  const std::string b = machines_text(second.record.plan);
  if (a == b) return {};
  return bad_usage(
      fmt::format("{} needs {} and {} needs {}: jobs that share have one worker each on all "
                  "machines; plan both for the same machines, or name them with --cluster",
                  request.plans[0], a, request.plans[1], b));
}

/// A job of a run as the twin needs it.
Result<JobAlone> alone_of(const PreparedRun& run) {
  JobChoice choice{.options = {.global_batch = run.record.global_batch},
                   .iterations = static_cast<double>(run.record.steps),
                   .deadline = run.record.deadline};
  choice.options.workers_per_vm = 1;
  choice.options.accumulation = run.accumulation;
  return job_alone(run.inputs, run.cluster, choice);
}

/// The option that is asked for, or the first; what speaks against sharing is the advice.
Status choose_option(const RunTogetherRequest& request, const PairVerdict& verdict,
                     PreparedTogether& pair) {
  if (verdict.refusal == PairRefusal::kMemory) return {{ErrorKind::kInfeasible, verdict.reason}};
  if (verdict.refusal == PairRefusal::kWorkers) return bad_usage(verdict.reason);
  if (verdict.options.empty()) return {{ErrorKind::kInfeasible, verdict.reason}};
  if (verdict.refusal != PairRefusal::kNone) pair.advice = verdict.reason;
  const auto found =
      std::find_if(verdict.options.begin(), verdict.options.end(),
                   [&](const PairOption& it) { return !request.mode || it.mode == *request.mode; });
  if (found == verdict.options.end())
    return bad_usage("there is no prediction for this sharing mode");
  pair.option = *found;
  return {};
}

void scale_steps(RunPlan& plan, double factor) {
  for (RunStepTime& step : plan.steps) {
    step.mean = step.mean * factor;
    step.p10 = step.p10 * factor;
    step.p90 = step.p90 * factor;
  }
}

/// What the run is told of sharing. Its forecast is that of its whole training; its supervisor
/// counts on the pace while both are there.
void set_sharing(const PreparedTogether& pair, std::size_t member,
                 const std::array<JobAlone, 2>& jobs, RunRecord& record) {
  const PairOption& option = pair.option;
  for (RunMachines& machines : record.plan.machines) {
    machines.on_demand = machines.on_demand / kRunsThatShare;
    machines.spot = machines.spot / kRunsThatShare;
  }
  const double slowdown = option.pace.slowdown[member];
  const Seconds period = option.turns[member] * slowdown * jobs[member].job.alone;
  const std::size_t other = 1 - member;
  record.sharing = RunSharing{.partner = pair.runs[other].record.name,
                              .cluster = {},
                              .folder = {},
                              .member = static_cast<int>(member),
                              .mode = option.mode,
                              .turns = option.turns[member],
                              .patience = kPatience * period,
                              .slowdown = slowdown};
  // Workers of both start at the same time, on the same cores.
  record.start_up += record.start_up - record.regroup;
  const RunPlan plan = record.plan;
  scale_steps(record.plan, option.outcome.slowdown[member]);
  record.forecast = forecast_of(record);
  record.plan = plan;
  scale_steps(record.plan, slowdown);
  // Alone it pays both halves.
  const Seconds end = option.outcome.end[member];
  const double halves = 1 + (end - std::min(end, option.outcome.together)) / end;
  CostRange& cost = record.forecast->cost;
  cost.mean = cost.mean * halves;
  cost.p10 = cost.p10 * halves;
  cost.p90 = cost.p90 * halves;
}

}  // namespace

Result<PreparedTogether> prepare_together(const Environment& environment,
                                          const RunTogetherRequest& request) {
  PreparedTogether pair;
  for (std::size_t i = 0; i < 2; ++i) {
    RunRequest one = request.common;
    (one.cluster.empty() ? one.plan : one.job) = request.plans[i];
    one.command_default = std::exchange(one.command, {});
    one.name = request.name.empty() ? "" : request.name + (i == 0 ? "-a" : "-b");
    auto run = prepare_run(environment, one);
    if (!run.ok()) {
      const std::string& message = run.error().message;
      const bool named = message.find(request.plans[i]) != std::string::npos;
      return Error{run.error().kind, named ? message : request.plans[i] + ": " + message};
    }
    pair.warnings.insert(pair.warnings.end(), run->warnings.begin(), run->warnings.end());
    pair.commands[i] = command_origin(environment, one, *run);
    pair.runs[i] = std::move(*run);
  }
  if (!request.common.command.empty() && !pair.commands[0].file.empty() &&
      !pair.commands[1].file.empty()) {
    return bad_usage(fmt::format("{} and {} have commands of their own; leave out the one after --",
                                 request.plans[0], request.plans[1]));
  }
  if (pair.runs[0].record.name == pair.runs[1].record.name) pair.runs[1].record.name += "-b";
  const Status same = check_machines(request, pair.runs[0], pair.runs[1]);
  if (!same.ok()) return same.error();
  auto first = alone_of(pair.runs[0]);
  if (!first.ok()) return first.error();
  auto second = alone_of(pair.runs[1]);
  if (!second.ok()) return second.error();
  const std::array<JobAlone, 2> jobs{std::move(*first), std::move(*second)};
  ShareCluster cluster{.memory = jobs[0].accelerators};
  if (jobs[0].prediction.price) cluster.rate = jobs[0].prediction.price->rate;
  const SharingModels models = sharing_models(jobs[0].prediction.groups);
  const PairVerdict verdict =
      pair_verdict(jobs[0].job, jobs[1].job, {.cluster = cluster, .models = models});
  const Status chosen = choose_option(request, verdict, pair);
  if (!chosen.ok()) return chosen.error();
  if (vms(jobs[0].job.setup) == 1) {
    pair.advice = "On one VM, gradients never wait for a network: sharing gains little.";
  }
  for (std::size_t i = 0; i < 2; ++i) set_sharing(pair, i, jobs, pair.runs[i].record);
  return pair;
}

}  // namespace stint
