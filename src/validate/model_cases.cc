#include "validate/model_cases.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "base/text.h"
#include "calibrate/score.h"
#include "predict/predictor.h"
#include "validate/case_facts.h"
#include "validate/case_training.h"

namespace stint {
namespace {

/// What a case asks of the model.
struct CaseQuestion {
  PredictInputs inputs;
  Cluster cluster;
  PredictOptions options;
};

bool is_sharded(const PublishedCase& it) {
  const std::string text = it.task + " " + it.framework;
  return text.find("FSDP") != std::string::npos || text.find("ZeRO") != std::string::npos;
}

Result<IterationTime> iteration_of(const CaseQuestion& question) {
  const PredictContext context = question.inputs.context();
  const auto resolved = resolve(context, question.cluster, question.options);
  if (!resolved.ok()) return resolved.error();
  return predict(context, *resolved, step_parts).prediction.iteration;
}

Result<CaseQuestion> question_of(const PredictInputs& common, const PublishedCase& it,
                                 const VmType& type, const CaseTraining& training) {
  const Gpu* gpu = gpu_of(common.catalog, type);
  CaseQuestion question{.inputs = {.job = training.job,
                                   .law = common.law,
                                   .devices = common.devices,
                                   .calibration = common.calibration},
                        .cluster = {},
                        .options = {}};
  question.inputs.provider = type.provider;
  question.inputs.catalog.gpus = {*gpu};
  question.inputs.catalog.types = {type};
  add_predicted_times(question.inputs.job, question.inputs.catalog, common.devices.model,
                      common.devices.work);
  const int vms = it.vms.value_or(1);
  const int workers = it.workers.value_or(1);
  if (workers % vms != 0) return bad_input("the workers are spread unevenly over the VMs");
  question.cluster.groups = {
      {.vm = {.provider = type.provider, .region = {}, .name = type.name}, .count = vms}};
  const bool apart = has_servers(it) && !servers_get_sums(it) && vms > 1;
  question.options = {.batch_per_worker = training.batch,
                      .workers_per_vm = workers / vms,
                      .accumulation = training.accumulation,
                      .collective = apart ? Collective::kParameterServer : Collective::kRing};
  return question;
}

/// A figure of the case's metric for an iteration of `step` seconds.
std::optional<double> figure_of(const PublishedCase& it, const CaseTraining& training,
                                Seconds step) {
  const double global =
      static_cast<double>(training.batch) * training.accumulation * it.workers.value_or(1);
  const double seconds = step.in(kSecond);
  switch (it.metric) {
    case CaseMetric::kSamplesPerSecond:
      return global / seconds;
    case CaseMetric::kTokensPerSecond:
      return global * static_cast<double>(training.job.work->sequence.value_or(1)) / seconds;
    case CaseMetric::kIterationTime:
      return seconds;
    case CaseMetric::kTimeToTrain: {
      PublishedCase with_batch = it;
      if (!with_batch.global_batch) with_batch.global_batch = static_cast<int>(global);
      const auto samples = samples_to_train(with_batch);
      if (!samples) return std::nullopt;
      return *samples / global * seconds;
    }
    case CaseMetric::kScalingEfficiency:
    case CaseMetric::kPeakMemory:
    case CaseMetric::kOther:
      return std::nullopt;
  }
  return std::nullopt;
}

/// The memory of the GPU; where the case does not state it, that of the largest of its kind.
Bytes most_memory(const Catalog& catalog, const Gpu& gpu, const PublishedCase& it) {
  Bytes most = gpu.memory.value_or(Bytes{});
  for (const Gpu& other : catalog.gpus) {
    if (names_family(other.name, it.gpu)) most = std::max(most, other.memory.value_or(Bytes{}));
  }
  return most;
}

/// The speed of a worker over that of a worker alone.
Status set_efficiency(const CaseQuestion& question, const IterationTime& time,
                      CaseOutcome& outcome) {
  CaseQuestion alone = question;
  alone.cluster.groups.front().count = 1;
  alone.options.workers_per_vm = 1;
  alone.options.collective = Collective::kRing;
  const auto one = iteration_of(alone);
  if (!one.ok()) return one.error();
  outcome.predicted = one->mean / time.mean;
  return {};
}

Status set_prediction(const PredictInputs& common, const PublishedCase& it, CaseOutcome& outcome) {
  if (it.metric == CaseMetric::kOther) return bad_input("costs need prices of their day");
  const bool counted = it.workers && (it.vms || *it.workers == 1);
  if (!counted) return bad_input("the number of VMs or workers is not stated");
  auto type = vm_type_of(common.catalog, it);
  if (!type.ok()) return type.error();
  const Gpu* gpu = gpu_of(common.catalog, type->value);
  if (gpu == nullptr) return bad_input("the catalogue has no figures of the accelerator");
  const auto training = training_of_case(it, *gpu);
  if (!training.ok()) return training.error();
  outcome.note = join(training->assumed, "; ");
  if (it.metric == CaseMetric::kPeakMemory) {
    if (is_sharded(it) && *it.workers > 1)
      return bad_input("the layout of its shards is not stated");
    const Bytes memory = work_memory(training->job, training->batch);
    const Bytes there = most_memory(common.catalog, *gpu, it);
    if (memory > there) {
      return bad_input(
          fmt::format("by its shape it needs {:.0f} GB, more than the GPU has, so that "
                      "techniques are used that are not stated",
                      memory.in(kGB)));
    }
    outcome.predicted = memory.in(kGB);
    return {};
  }
  const auto question = question_of(common, it, type->value, *training);
  if (!question.ok()) return question.error();
  const auto time = iteration_of(*question);
  if (!time.ok()) return time.error();
  if (is_sharded(it)) outcome.note += "; sharding is predicted as data-parallel training";
  if (it.metric == CaseMetric::kScalingEfficiency) {
    return set_efficiency(*question, *time, outcome);
  }
  outcome.predicted = figure_of(it, *training, time->mean);
  if (!outcome.predicted) return bad_input("the samples of the whole training are not known");
  outcome.p10 = figure_of(it, *training, time->p10);
  outcome.p90 = figure_of(it, *training, time->p90);
  if (*outcome.p10 > *outcome.p90) std::swap(outcome.p10, outcome.p90);
  return {};
}

CaseOutcome outcome_of(const PredictInputs& common, const PublishedCase& it) {
  CaseOutcome outcome{.published = it, .from = "model"};
  const Status status = set_prediction(common, it, outcome);
  if (!status.ok()) {
    outcome.predicted.reset();
    outcome.note = status.error().message;
  }
  return outcome;
}

/// Makes `outcome` that of a case that is as likely to be `other`: in the middle of both, with the
/// 80 % interval of the mixture where the two do not overlap. Its lower tenth is the lower fifth of
/// the lower one.
void mix(CaseOutcome& outcome, const CaseOutcome& other) {
  constexpr double kFifthOverTenth = 0.8416 / 1.2816;  // Quantiles of a normal distribution.
  const CaseOutcome& low = *outcome.predicted < *other.predicted ? outcome : other;
  const CaseOutcome& high = &low == &outcome ? other : outcome;
  const auto towards = [&](double from, double end) {
    return from * std::pow(end / from, kFifthOverTenth);
  };
  const double p10 = towards(*low.predicted, *low.p10);
  const double p90 = towards(*high.predicted, *high.p90);
  outcome.predicted = std::sqrt(*outcome.predicted * *other.predicted);
  outcome.p10 = p10;
  outcome.p90 = p90;
  outcome.note += "; mixed precision is as likely, and the interval has both";
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

std::string group_of(const PublishedCase& it) {
  const bool stated = it.batch_per_worker && !it.precision.empty();
  switch (it.metric) {
    case CaseMetric::kSamplesPerSecond:
    case CaseMetric::kTokensPerSecond:
    case CaseMetric::kIterationTime:
      return stated ? "speed, batch and precision stated" : "speed, others";
    case CaseMetric::kTimeToTrain:
      return "time to train";
    case CaseMetric::kScalingEfficiency:
      return "scaling efficiency";
    case CaseMetric::kPeakMemory:
      return "peak memory";
    case CaseMetric::kOther:
      return "other";
  }
  return "other";
}

CaseGroup group_score(const std::string& name, bool several,
                      const std::vector<const CaseOutcome*>& members) {
  CaseGroup group{.name = name, .several_vms = several, .cases = static_cast<int>(members.size())};
  std::vector<double> ratios;
  for (const CaseOutcome* it : members) {
    const double ratio = *it->speed_ratio;
    group.close += ratio >= kCloseMin && ratio <= kCloseMax ? 1 : 0;
    group.inside += it->inside() ? 1 : 0;
    ratios.push_back(ratio);
  }
  group.median_ratio = median(ratios);
  return group;
}

}  // namespace

CaseOutcome predict_model_case(const PredictInputs& common, const PublishedCase& it) {
  CaseOutcome outcome = outcome_of(common, it);
  const auto type = vm_type_of(common.catalog, it);
  const Gpu* gpu = type.ok() ? gpu_of(common.catalog, type->value) : nullptr;
  if (outcome.predicted && outcome.p10 && gpu != nullptr && precision_is_open(it, *gpu)) {
    PublishedCase mixed = it;
    mixed.precision = "mixed";
    const CaseOutcome other = outcome_of(common, mixed);
    if (other.predicted && other.p10) mix(outcome, other);
  }
  const std::string warning = warning_about(it);
  if (!warning.empty()) outcome.note += (outcome.note.empty() ? "" : "; ") + warning;
  if (outcome.predicted && it.value) outcome.speed_ratio = *outcome.predicted / *it.value;
  return outcome;
}

CaseReport model_case_report(std::vector<CaseOutcome> outcomes) {
  CaseReport report;
  std::map<std::pair<std::string, bool>, std::vector<const CaseOutcome*>> groups;
  std::vector<Scored> scored;
  for (const CaseOutcome& it : outcomes) {
    const auto as_time = [](std::optional<double> value) {
      return value ? std::optional(*value * kSecond) : std::nullopt;
    };
    const std::string name = group_of(it.published);
    if (it.published.metric != CaseMetric::kOther) {
      scored.push_back({.job = name,
                        .predicted = as_time(it.predicted),
                        .measured = as_time(it.published.value),
                        .p10 = as_time(it.p10),
                        .p90 = as_time(it.p90)});
    }
    report.scores.predictions.push_back({.row = it.published.row,
                                         .predicted = it.predicted,
                                         .p10 = it.p10,
                                         .p90 = it.p90,
                                         .note = it.note});
  }
  report.cases = std::move(outcomes);
  for (const CaseOutcome& it : report.cases) {
    if (it.speed_ratio) {
      groups[{group_of(it.published), it.published.vms.value_or(1) > 1}].push_back(&it);
    }
  }
  for (const auto& [key, members] : groups) {
    report.groups.push_back(group_score(key.first, key.second, members));
  }
  report.scores.validation = {
      .what = "cases", .overall = score(scored), .jobs = score_by_job(scored)};
  report.scores.validation.mean_over_jobs = mean_over(report.scores.validation.jobs);
  return report;
}

}  // namespace stint
