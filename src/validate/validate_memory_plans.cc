#include "validate/validate_memory_plans.h"

#include <fmt/format.h>
#include <utility>

#include "calibrate/score.h"

namespace stint {
namespace {

constexpr const char* kByJob = "leave-one-job-out";
constexpr const char* kByCluster = "leave-one-cluster-out";
constexpr const char* kBaseline = "plain";

/// A plan and the loads of its devices, or the reason why they are not known.
struct LoadedPlan {
  PlanMemory plan;
  std::vector<StageLoad> loads;
  std::string note;
};

std::vector<LoadedPlan> load(const std::vector<PlanMemory>& plans, const LayerTable& layers) {
  std::vector<LoadedPlan> all;
  for (const PlanMemory& plan : plans) {
    LoadedPlan it{.plan = plan};
    auto loads = layers.loads(plan);
    if (loads.ok()) {
      it.loads = std::move(*loads);
    } else {
      it.note = loads.error().message;
    }
    all.push_back(std::move(it));
  }
  return all;
}

Status predict_fold(const std::vector<LoadedPlan>& plans, const Fold& fold,
                    std::vector<PredictionLine>& lines) {
  std::vector<PlanRow> rows;
  for (const std::size_t i : fold.train) {
    const LoadedPlan& it = plans[i];
    if (it.loads.empty() || !it.plan.memory_peak) continue;
    rows.push_back({it.plan.cluster, it.loads, *it.plan.memory_peak});
  }
  if (rows.empty()) {
    return bad_input(
        "no row to learn from: none has a measured peak and the sizes of all its layers");
  }
  const auto model = PlanMemoryModel::fit(rows);
  if (!model.ok()) return model.error();
  for (const std::size_t i : fold.test) {
    if (plans[i].loads.empty()) continue;
    const MemoryEstimate it = model->estimate(plans[i].plan.cluster, plans[i].loads);
    lines[i].predicted = it.mean.in(kByte);
    lines[i].p10 = it.p10.in(kByte);
    lines[i].p90 = it.p90.in(kByte);
  }
  return {};
}

/// Scores the rows from `first` on. Scores are relative, so that each row is scored in units of its
/// measurement.
Validation score_lines(const std::vector<LoadedPlan>& plans,
                       const std::vector<PredictionLine>& lines, std::size_t first,
                       const MemoryChoices& choices) {
  std::vector<Scored> scored;
  for (std::size_t i = first; i < plans.size(); ++i) {
    const auto measured = plans[i].plan.memory_peak;
    if (!measured) continue;
    const auto relative = [&](const std::optional<double>& bytes) {
      return bytes ? std::optional(*bytes / measured->in(kByte)*kSecond) : std::nullopt;
    };
    scored.push_back({.job = plans[i].plan.model,
                      .predicted = relative(lines[i].predicted),
                      .measured = 1 * kSecond,
                      .p10 = relative(lines[i].p10),
                      .p90 = relative(lines[i].p90)});
  }
  Validation validation{.what = "memory"};
  validation.overall = score(scored);
  validation.jobs = score_by_job(scored);
  validation.mean_over_jobs = mean_over(validation.jobs);
  if (!choices.split.empty()) validation.split = choices.split;
  validation.notes.emplace_back("Errors are of peak bytes of the fullest device.");
  return validation;
}

std::vector<Fold> folds_of(const std::vector<LoadedPlan>& plans, std::size_t learned,
                           const std::string& split) {
  if (split.empty()) return {train_then_test(learned, plans.size())};
  std::vector<std::string> keys;
  for (const LoadedPlan& it : plans)
    keys.push_back(split == kByJob ? it.plan.model : it.plan.cluster);
  return leave_one_out(keys);
}

}  // namespace

Result<ValidationReport> validate_plans(std::vector<PlanMemory> train, std::vector<PlanMemory> test,
                                        const LayerTable& layers, const MemoryChoices& choices) {
  if (!choices.split.empty() && choices.split != kByJob && choices.split != kByCluster) {
    return bad_usage(
        fmt::format("plans are split by job or cluster: --split {} or {}", kByJob, kByCluster));
  }
  const std::size_t learned = train.size();
  train.insert(train.end(), test.begin(), test.end());
  const std::vector<LoadedPlan> plans = load(train, layers);
  const std::size_t first = choices.split.empty() ? learned : 0;

  std::vector<PredictionLine> lines(plans.size());
  for (std::size_t i = first; i < lines.size(); ++i) {
    lines[i].row = i - first;
    lines[i].note = plans[i].note;
  }
  std::vector<PredictionLine> plain = lines;
  for (std::size_t i = first; i < plain.size(); ++i) {
    if (!plans[i].loads.empty()) plain[i].predicted = plain_memory(plans[i].loads).in(kByte);
  }
  for (const Fold& fold : folds_of(plans, learned, choices.split)) {
    const Status predicted = predict_fold(plans, fold, lines);
    if (!predicted.ok()) return predicted.error();
  }
  Validation ours = score_lines(plans, lines, first, choices);
  Validation baseline = score_lines(plans, plain, first, choices);
  baseline.baseline = kBaseline;
  if (choices.plain) {
    std::swap(ours, baseline);
    std::swap(lines, plain);
  }
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(first));
  return ValidationReport{std::move(ours), {std::move(baseline)}, std::move(lines)};
}

}  // namespace stint
