#include "validate/validate_cases.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "calibrate/score.h"
#include "catalog/lookup.h"
#include "job/job.h"
#include "load/predict_inputs.h"
#include "predict/predictor.h"
#include "validate/case_facts.h"
#include "validate/model_cases.h"

namespace stint {
namespace {

using Cases = std::vector<PublishedCase>;

/// How a case splits its batch over workers.
struct CaseLayout {
  int workers_per_vm = 1;
  int batch = 1;  // Of one worker and micro-step.
  int accumulation = 1;

  double global_batch(const PublishedCase& it) const {
    return static_cast<double>(batch) * accumulation * it.workers.value_or(1);
  }
};

/// The same training: only VMs and workers differ.
auto training_of(const PublishedCase& it) {
  const std::string task = it.task.substr(0, it.task.find(" (epochs"));
  return std::tuple(it.group, it.model, task, it.precision, it.metric);
}

bool is_smaller(const PublishedCase& small, const PublishedCase& large) {
  if (small.vms != 1 || !small.workers || !small.value) return false;
  if (small.gpu != large.gpu || training_of(small) != training_of(large)) return false;
  return *small.workers < large.workers.value_or(0);
}

/// The best case to predict `large` from: of the same framework, batch and VM type, and the largest
/// on one VM; on one VM the smallest.
const PublishedCase* base_of(const Cases& known, const PublishedCase& large) {
  const auto rank = [&](const PublishedCase& it) {
    const bool same_batch = it.batch_per_worker == large.batch_per_worker;
    const int workers = *it.workers;
    return std::tuple(it.framework == large.framework, same_batch, it.machines == large.machines,
                      large.vms == 1 ? -workers : workers);
  };
  const PublishedCase* best = nullptr;
  for (const PublishedCase& it : known) {
    if (!is_smaller(it, large)) continue;
    if (best == nullptr || rank(it) > rank(*best)) best = &it;
  }
  return best;
}

/// The most workers of a training: where only the global batch is stated, all its cases have the
/// micro-batch that its largest case has without accumulation.
int workers_max(const Cases& all, const PublishedCase& like) {
  int most = like.workers.value_or(1);
  for (const PublishedCase& it : all) {
    if (training_of(it) == training_of(like) && it.global_batch == like.global_batch) {
      most = std::max(most, it.workers.value_or(1));
    }
  }
  return most;
}

Result<CaseFact<CaseLayout>> case_layout(const Cases& all, const PublishedCase& it) {
  const int workers = *it.workers;
  if (workers % *it.vms != 0) return bad_input("the workers are spread unevenly over the VMs");
  CaseFact<CaseLayout> fact{.value = {.workers_per_vm = workers / *it.vms}};
  if (const auto batch = batch_of(it)) {
    fact.value.batch = batch->value;
    fact.assumed = batch->assumed;
  } else if (it.global_batch) {
    fact.value.batch = std::max(1, *it.global_batch / workers_max(all, it));
  } else {
    return bad_input("the batch is not stated");
  }
  const int at_once = fact.value.batch * workers;
  if (it.global_batch) fact.value.accumulation = std::max(1, *it.global_batch / at_once);
  return fact;
}

/// The steps that a published time covers; absent: not known.
std::optional<double> steps_of(const PublishedCase& it, const CaseLayout& layout) {
  if (it.metric == CaseMetric::kIterationTime) return 1;
  if (it.metric != CaseMetric::kTimeToTrain) return std::nullopt;
  const auto samples = samples_to_train(it);
  if (!samples) return std::nullopt;
  return *samples / layout.global_batch(it);
}

std::optional<Seconds> step_of_value(const PublishedCase& it, const CaseLayout& layout,
                                     double value) {
  if (it.metric == CaseMetric::kSamplesPerSecond) return layout.global_batch(it) / value * kSecond;
  const auto steps = steps_of(it, layout);
  return steps ? std::optional(value / *steps * kSecond) : std::nullopt;
}

std::optional<double> value_of_step(const PublishedCase& it, const CaseLayout& layout,
                                    Seconds step) {
  if (it.metric == CaseMetric::kSamplesPerSecond) return layout.global_batch(it) / step.in(kSecond);
  const auto steps = steps_of(it, layout);
  return steps ? std::optional(step.in(kSecond) * *steps) : std::nullopt;
}

/// Everything that `stint predict` would be asked with.
struct Question {
  PredictInputs inputs;
  Cluster cluster;
  PredictOptions options;
};

Collective collective_of(const PublishedCase& it) {
  const bool apart = has_servers(it) && !servers_get_sums(it) && *it.vms > 1;
  return apart ? Collective::kParameterServer : Collective::kRing;
}

/// The inputs of a case: its job has the gradients and no time yet.
Result<CaseFact<Question>> question_of(const PredictInputs& common, const PublishedCase& it,
                                       const CaseLayout& layout) {
  const auto gradients = gradients_of(it);
  if (!gradients) return bad_input(fmt::format("the size of {} is not known", printable(it.model)));
  auto type = vm_type_of(common.catalog, it);
  if (!type.ok()) return type.error();
  const Gpu* gpu = gpu_of(common.catalog, type->value);
  if (gpu == nullptr) return bad_input("the catalogue has no figures of the accelerator");
  CaseFact<Question> fact{.value = {.inputs = {.law = common.law,
                                               .devices = common.devices,
                                               .calibration = common.calibration},
                                    .cluster = {},
                                    .options = {}},
                          .assumed = type->assumed};
  Question& question = fact.value;
  question.inputs.job = {.name = "published " + it.id, .gradient_bytes = gradients->value};
  question.inputs.job.compute = {{.device = gpu->name, .batch_per_worker = layout.batch}};
  question.inputs.provider = type->value.provider;
  question.inputs.catalog.gpus = common.catalog.gpus;
  question.cluster.groups = {
      {.vm = {.provider = type->value.provider, .region = {}, .name = type->value.name},
       .count = *it.vms}};
  type->value.offers.clear();
  type->value.source.reset();
  question.inputs.catalog.types = {std::move(type->value)};
  question.options = {.batch_per_worker = layout.batch,
                      .workers_per_vm = layout.workers_per_vm,
                      .accumulation = layout.accumulation,
                      .collective = collective_of(it)};
  return fact;
}

// Backward takes about twice as long as forward: two matrix products instead of one.
constexpr double kForwardShare = 1.0 / 3;

/// The iteration if one worker alone takes `alone` for `batch` samples.
Result<IterationTime> iteration(Question& question, Seconds alone, int batch) {
  ComputeSample& sample = question.inputs.job.compute.front();
  sample.batch_per_worker = batch;
  sample.forward.median = kForwardShare * alone;
  sample.backward.median = (1 - kForwardShare) * alone;
  const PredictContext context = question.inputs.context();
  const auto resolved = resolve(context, question.cluster, question.options);
  if (!resolved.ok()) return resolved.error();
  return predict(context, *resolved, step_parts).prediction.iteration;
}

/// The time of one worker alone for a micro-step with which the prediction equals `step`. Where
/// even no compute at all is predicted slower, all of the step is compute.
Result<Seconds> worker_alone(Question& question, Seconds step, int batch) {
  constexpr int kHalvings = 60;
  constexpr double kLeast = 1e-3;  // Of the micro-step.
  const Seconds whole = step / question.options.accumulation;
  Seconds low = kLeast * whole;
  Seconds high = whole;
  const auto least = iteration(question, low, batch);
  if (!least.ok()) return least.error();
  if (least->mean >= step) return whole;
  for (int i = 0; i < kHalvings; ++i) {
    const Seconds middle = (low + high) / 2;
    const auto tried = iteration(question, middle, batch);
    if (!tried.ok()) return tried.error();
    (tried->mean > step ? high : low) = middle;
  }
  return (low + high) / 2;
}

void add_note(std::string& note, const std::string& more) {
  if (more.empty()) return;
  note += (note.empty() ? "" : "; ") + more;
}

/// The publisher's table; parameter servers are a group of their own.
std::string group_name(const PublishedCase& it) {
  return has_servers(it) ? it.group + " (servers)" : it.group;
}

/// A prediction in seconds per step, for the score, and in the case's unit.
struct CasePrediction {
  Scored scored;
  Scored perfect;
  CaseOutcome outcome;
};

class CasePredictor {
 public:
  CasePredictor(const PredictInputs& common, const Cases& known, const Cases& all)
      : common_(common), known_(known), all_(all) {}

  CasePrediction predict(const PublishedCase& it) const {
    CasePrediction made{.scored = {.job = group_name(it)},
                        .perfect = {.job = group_name(it)},
                        .outcome = {.published = it}};
    const Status status = fill(it, made);
    if (!status.ok()) made.outcome.note = status.error().message;
    return made;
  }

 private:
  Status fill(const PublishedCase& it, CasePrediction& made) const {
    CaseOutcome& outcome = made.outcome;
    if (!it.workers || !it.vms) return bad_input("the number of VMs or workers is not stated");
    const PublishedCase* base = base_of(known_, it);
    if (base == nullptr) return bad_input("there is no smaller case of this training");
    outcome.from = base->id;
    outcome.from_workers = *base->workers;
    const auto layout = case_layout(all_, it);
    if (!layout.ok()) return layout.error();
    const auto base_layout = case_layout(all_, *base);
    if (!base_layout.ok()) return base_layout.error();
    const auto base_step = step_of_value(*base, base_layout->value, *base->value);
    if (!base_step) return bad_input("the number of steps is not known");
    if (it.value) made.scored.measured = step_of_value(it, layout->value, *it.value);
    made.perfect.measured = made.scored.measured;
    const double work =
        static_cast<double>(layout->value.batch) * layout->value.accumulation /
        (static_cast<double>(base_layout->value.batch) * base_layout->value.accumulation);
    made.perfect.predicted = work * *base_step;

    auto small = question_of(common_, *base, base_layout->value);
    if (!small.ok()) return small.error();
    auto large = question_of(common_, it, layout->value);
    if (!large.ok()) return large.error();
    const int batch = base_layout->value.batch;
    const auto alone = worker_alone(small->value, *base_step, batch);
    if (!alone.ok()) return alone.error();
    const auto answer = iteration(large->value, *alone, batch);
    if (!answer.ok()) return answer.error();
    made.scored.predicted = answer->mean;
    made.scored.p10 = answer->p10;
    made.scored.p90 = answer->p90;
    add_note(outcome.note, layout->assumed);
    add_note(outcome.note, large->assumed);
    add_note(outcome.note, warning_about(it));
    if (servers_get_sums(it) && *it.vms > 1) {
      add_note(outcome.note, "servers get one sum of each VM, which is predicted as all-reduce");
    }
    show(it, layout->value, made);
    return {};
  }

  /// Fills in what is shown, from the seconds per step.
  static void show(const PublishedCase& it, const CaseLayout& layout, CasePrediction& made) {
    CaseOutcome& outcome = made.outcome;
    const auto& [job, predicted, measured, p10, p90, bound] = made.scored;
    outcome.predicted = value_of_step(it, layout, *predicted);
    outcome.p10 = value_of_step(it, layout, *p10);
    outcome.p90 = value_of_step(it, layout, *p90);
    if (outcome.p10 && outcome.p90 && *outcome.p10 > *outcome.p90) {
      std::swap(outcome.p10, outcome.p90);
    }
    if (!measured) return;
    outcome.speed_ratio = *measured / *predicted;
    outcome.perfect_ratio = *measured / *made.perfect.predicted;
  }

  const PredictInputs& common_;
  const Cases& known_;
  const Cases& all_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

std::vector<CaseGroup> groups_of(const std::vector<CaseOutcome>& outcomes) {
  std::map<std::pair<bool, std::string>, std::vector<const CaseOutcome*>> by_name;
  for (const CaseOutcome& it : outcomes) {
    if (!it.speed_ratio) continue;
    by_name[{it.published.vms == 1, group_name(it.published)}].push_back(&it);
  }
  std::vector<CaseGroup> groups;
  for (const auto& [key, members] : by_name) {
    CaseGroup group{
        .name = key.second, .several_vms = !key.first, .cases = static_cast<int>(members.size())};
    std::vector<double> ratios;
    std::vector<double> perfect;
    for (const CaseOutcome* it : members) {
      const double ratio = *it->speed_ratio;
      group.close += ratio >= kCloseMin && ratio <= kCloseMax ? 1 : 0;
      group.inside += it->inside() ? 1 : 0;
      ratios.push_back(ratio);
      perfect.push_back(*it->perfect_ratio);
    }
    group.median_ratio = median(ratios);
    group.median_perfect = median(perfect);
    groups.push_back(std::move(group));
  }
  return groups;
}

Validation validation_of(const std::vector<Scored>& all, const std::vector<CaseOutcome>& outcomes) {
  Validation validation{.what = "cases", .overall = score(all), .jobs = score_by_job(all)};
  validation.mean_over_jobs = mean_over(validation.jobs);
  std::map<std::string, std::vector<Scored>> placements;
  for (std::size_t i = 0; i < all.size(); ++i) {
    placements[outcomes[i].published.vms == 1 ? "one VM" : "several VMs"].push_back(all[i]);
  }
  for (const auto& [name, rows] : placements) validation.groups[name] = score(rows);
  return validation;
}

Result<Cases> read_files(const std::vector<std::string>& files) {
  Cases all;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    auto cases = read_cases(*text, file);
    if (!cases.ok()) return cases.error();
    std::move(cases->begin(), cases->end(), std::back_inserter(all));
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].row = i;
  return all;
}

bool is_target(const Cases& known, const PublishedCase& it) {
  return is_step_metric(it.metric) && it.vms && it.workers && base_of(known, it) != nullptr;
}

}  // namespace

bool CaseOutcome::inside() const {
  return published.value && p10 && p90 && *p10 <= *published.value && *published.value <= *p90;
}

Result<CaseReport> validate_cases(const Environment& environment,
                                  const ValidateCasesRequest& request) {
  if (request.train.empty() && request.test.empty()) {
    return bad_usage("--train FILE or --test FILE is required: the published cases");
  }
  const auto known = read_files(request.train);
  if (!known.ok()) return known.error();
  const auto test = read_files(request.test);
  if (!test.ok()) return test.error();
  Cases all = *known;
  all.insert(all.end(), test->begin(), test->end());
  // The cases are of several providers, so that none of them decides the calibration.
  const Cluster nowhere{.groups = {{.vm = {.provider = {}, .region = {}, .name = "published"}}}};
  JobProfile any{.name = "published", .gradient_bytes = 1 * kMB};
  const auto common = load_predict_inputs(environment, Loaded<JobProfile>{std::move(any), {}},
                                          request.calibration, nowhere);
  if (!common.ok()) return common.error();

  if (request.train.empty()) {
    std::vector<CaseOutcome> outcomes;
    for (const PublishedCase& it : *test) outcomes.push_back(predict_model_case(*common, it));
    return model_case_report(std::move(outcomes));
  }
  const CasePredictor predictor(*common, *known, all);
  CaseReport report;
  std::vector<Scored> ours;
  std::vector<Scored> perfect;
  for (const PublishedCase& it : request.test.empty() ? *known : *test) {
    if (request.test.empty() && !is_target(*known, it)) continue;
    CasePrediction made = predictor.predict(it);
    PredictionLine line{.row = it.row,
                        .predicted = made.outcome.predicted,
                        .p10 = made.outcome.p10,
                        .p90 = made.outcome.p90,
                        .note = made.outcome.note};
    report.scores.predictions.push_back(std::move(line));
    report.cases.push_back(std::move(made.outcome));
    ours.push_back(std::move(made.scored));
    perfect.push_back(std::move(made.perfect));
  }
  report.groups = groups_of(report.cases);
  report.scores.validation = validation_of(ours, report.cases);
  Validation scaled = validation_of(perfect, report.cases);
  scaled.baseline = "perfect";
  report.scores.beside = {std::move(scaled)};
  if (request.perfect) std::swap(report.scores.validation, report.scores.beside.front());
  return report;
}

}  // namespace stint
