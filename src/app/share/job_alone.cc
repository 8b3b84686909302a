#include "app/share/job_alone.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/text.h"
#include "converge/work.h"
#include "predict/memory.h"
#include "predict/predictor.h"

namespace stint {
namespace {

Status add_work(const JobProfile& profile, std::optional<double> iterations, JobAlone& alone) {
  if (iterations) {
    alone.job.iterations = *iterations;
    return {};
  }
  const auto work = work_to_goal(profile);
  if (!work.ok()) {
    return Error{work.error().kind,
                 work.error().message + "; or give their number with --iterations"};
  }
  const auto batch = static_cast<int>(alone.prediction.global_batch.value_or(1));
  const BatchChoice choice = choice_near(*work, batch);
  alone.job.iterations = choice.iterations;
  alone.job.iterations_deviation = choice.deviation;
  const bool known = std::any_of(work->choices.begin(), work->choices.end(),
                                 [&](const BatchChoice& it) { return it.global_batch == batch; });
  if (!known) {
    alone.assumptions.push_back(
        fmt::format("{} is assumed to need as many samples at a global batch of {} as at the "
                    "nearest batch of its profile.",
                    profile.name, batch));
  }
  return {};
}

Error does_not_fit(const JobProfile& profile, const MemoryVerdict& verdict) {
  return {ErrorKind::kInfeasible,
          fmt::format("{} does not fit alone: a worker needs {:.1f} GB of {:.1f} GB usable; choose "
                      "a smaller --batch-per-worker",
                      profile.name, verdict.needed.in(kGB), verdict.available.in(kGB))};
}

void add_memory(const JobProfile& profile, const ResolvedJob& resolved, JobAlone& alone) {
  for (const ResolvedGroup& group : resolved.groups) {
    alone.accelerators.push_back(group.memory);
    alone.job.memory.push_back(memory_need(profile, group.times.measured, group.batch_max()));
  }
  const auto& needs = alone.job.memory;
  alone.memory_known = std::all_of(needs.begin(), needs.end(), [](const auto& it) { return !!it; });
}

}  // namespace

std::optional<std::string> memory_assumption(const std::vector<std::string>& names) {
  if (names.empty()) return std::nullopt;
  return fmt::format("The peak memory of {} is unknown: {} to fit next to other jobs.",
                     join(names, ", "), names.size() == 1 ? "it is assumed" : "they are assumed");
}

Result<JobAlone> job_alone(const PredictInputs& inputs, const Cluster& cluster,
                           const JobChoice& choice) {
  const auto resolved = resolve(inputs.context(), cluster, choice.options);
  if (!resolved.ok()) return resolved.error();
  Predicted predicted = predict(inputs.context(), *resolved, step_parts);
  const Prediction& prediction = predicted.prediction;
  if (prediction.memory && !prediction.memory->fits) {
    return does_not_fit(inputs.job, *prediction.memory);
  }
  JobAlone alone;
  ShareJob& job = alone.job;
  job.name = inputs.job.name;
  job.setup = std::move(predicted.setup);
  job.alone = prediction.iteration.mean;
  job.deviation = std::log(prediction.iteration.p90 / prediction.iteration.mean) / kEightInTen;
  job.deadline = choice.deadline;
  job.compute_measured =
      std::none_of(prediction.groups.begin(), prediction.groups.end(),
                   [](const PredictedGroup& it) { return it.carried_over_from.has_value(); });
  job.overlap_known = !inputs.job.buckets.empty();
  alone.assumptions = prediction.assumptions;
  alone.prediction = std::move(predicted.prediction);
  add_memory(inputs.job, *resolved, alone);
  const Status work = add_work(inputs.job, choice.iterations, alone);
  if (!work.ok()) return work.error();
  return alone;
}

}  // namespace stint
