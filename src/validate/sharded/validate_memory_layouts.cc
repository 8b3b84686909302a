#include "validate/sharded/validate_memory_layouts.h"

#include <fmt/format.h>
#include <utility>

#include "base/text.h"
#include "calibrate/score.h"
#include "load/catalog_cases.h"
#include "load/memory_cases.h"

namespace stint {
namespace {

constexpr const char* kVerdict = "fits in memory";
constexpr const char* kRuleOfThumb = "plain";

struct LayoutKey {
  const char* split;
  const char* noun;
  std::string (*key)(const LoadedMemoryCase&);
};

std::string model_of(const LoadedMemoryCase& it) { return it.model; }

constexpr LayoutKey kLayoutKeys[] = {
    {"leave-one-date-out", "date", [](const LoadedMemoryCase& it) { return it.row.date; }},
    {"leave-one-model-out", "model", model_of},
    {"leave-one-job-out", "model", model_of},
    {"leave-one-cluster-out", "cluster",
     [](const LoadedMemoryCase& it) { return it.row.software; }},
    {"leave-one-sequence-out", "length of sequences",
     [](const LoadedMemoryCase& it) { return fmt::format("{:g}", it.row.sequence); }},
};

Result<std::vector<LoadedMemoryCase>> load_files(const std::vector<std::string>& files,
                                                 MemoryFormat format, const Catalog& catalog) {
  std::vector<LoadedMemoryCase> all;
  for (const std::string& file : files) {
    auto cases = load_memory_cases(file, format, catalog);
    if (!cases.ok()) return cases.error();
    std::move(cases->begin(), cases->end(), std::back_inserter(all));
  }
  return all;
}

struct LayoutRows {
  std::vector<LoadedMemoryCase> rows;  // Training rows, then test rows.
  std::size_t train = 0;
  std::vector<ShardedMemoryCase> priors;
};

Result<LayoutRows> load_rows(const MemoryLayoutsRequest& request, const Catalog& catalog) {
  auto train = load_files(request.train, request.format, catalog);
  if (!train.ok()) return train.error();
  auto test = load_files(request.test, request.format, catalog);
  if (!test.ok()) return test.error();
  LayoutRows all{.rows = std::move(*train)};
  all.train = all.rows.size();
  std::move(test->begin(), test->end(), std::back_inserter(all.rows));
  for (const std::string& prior : request.priors) {
    auto cases = load_named_memory_cases(prior, "--prior", catalog);
    if (!cases.ok()) return cases.error();
    for (LoadedMemoryCase& it : *cases) {
      if (it.row.problem.empty()) all.priors.push_back(std::move(it.as_case));
    }
  }
  return all;
}

const LayoutKey* key_of(const std::string& split) {
  for (const LayoutKey& it : kLayoutKeys) {
    if (split == it.split) return &it;
  }
  return nullptr;
}

Result<std::vector<Fold>> folds_over(const LayoutRows& all, const std::string& split) {
  if (split.empty()) return std::vector{train_then_test(all.train, all.rows.size())};
  const LayoutKey* by = key_of(split);
  if (by == nullptr) {
    return bad_usage(fmt::format("--split {} is not for layouts; use one of {}", printable(split),
                                 join(memory_layout_splits(), ", ")));
  }
  std::vector<std::string> keys;
  for (const LoadedMemoryCase& it : all.rows) keys.push_back(by->key(it));
  std::vector<Fold> folds = leave_one_out(keys);
  if (folds.size() >= 2) return folds;
  return bad_usage(fmt::format("--split {} needs two of them in --train; the files have one {}",
                               split, by->noun));
}

Status predict_layouts(const LayoutRows& all, const Fold& fold,
                       std::vector<PredictionLine>& lines) {
  std::vector<ShardedMemoryCase> known = all.priors;
  for (const std::size_t i : fold.train) {
    const LoadedMemoryCase& it = all.rows[i];
    if (it.row.problem.empty()) known.push_back(it.as_case);
  }
  std::erase_if(known, [](const ShardedMemoryCase& it) { return !it.peak; });
  if (known.empty()) {
    return bad_input("no row to learn from: none of --train and --prior states a peak memory");
  }
  const auto model = ShardedMemoryModel::fit(known);
  if (!model.ok()) return model.error();
  for (const std::size_t i : fold.test) {
    const LoadedMemoryCase& it = all.rows[i];
    if (!it.row.problem.empty()) continue;
    const ShardedPeak peak = model->estimate(it.as_case);
    lines[i].predicted = peak.mean / it.row.unit;
    lines[i].p10 = peak.p10 / it.row.unit;
    lines[i].p90 = peak.p90 / it.row.unit;
  }
  return {};
}

/// All rows of these tables ran, so that no verdict can be wrong the other way.
Score verdicts(const LayoutRows& all, const std::vector<PredictionLine>& lines, std::size_t first) {
  Score score;
  int right = 0;
  for (std::size_t i = first; i < lines.size(); ++i) {
    const LoadedMemoryCase& it = all.rows[i];
    if (!it.row.memory || !lines[i].predicted || !it.room) continue;
    ++score.n;
    if (*lines[i].predicted * it.row.unit <= *it.room) ++right;
  }
  if (score.n == 0) return score;
  score.accuracy = static_cast<double>(right) / score.n;
  score.mape = 1 - *score.accuracy;
  return score;
}

Validation score_layouts(const LayoutRows& all, const std::vector<PredictionLine>& lines,
                         std::size_t first, const std::string& split) {
  const LayoutKey* by = key_of(split);
  std::vector<Scored> scored;
  for (std::size_t i = first; i < lines.size(); ++i) {
    const LoadedMemoryCase& it = all.rows[i];
    if (!it.row.memory) continue;
    // Scores are relative, so that each row is scored in units of its measurement.
    const auto relative = [&](const std::optional<double>& value) {
      return value ? std::optional(*value / *it.row.memory * kSecond) : std::nullopt;
    };
    scored.push_back({.job = by != nullptr ? by->key(it) : it.model,
                      .predicted = relative(lines[i].predicted),
                      .measured = 1 * kSecond,
                      .p10 = relative(lines[i].p10),
                      .p90 = relative(lines[i].p90)});
  }
  Validation validation{.what = "memory"};
  validation.overall = score(scored);
  validation.jobs = score_by_job(scored);
  validation.mean_over_jobs = mean_over(validation.jobs);
  if (!split.empty()) validation.split = split;
  validation.notes.emplace_back("Errors are of the peak memory of the fullest worker.");
  const Score fits = verdicts(all, lines, first);
  if (fits.accuracy) {
    validation.groups.emplace(kVerdict, fits);
    validation.notes.push_back(
        fmt::format("The predicted peak is within the accelerator's memory in {:.1f} % of {} that "
                    "did run.",
                    100 * *fits.accuracy, counted(static_cast<std::size_t>(fits.n), "row")));
  }
  return validation;
}

}  // namespace

std::vector<std::string> memory_layout_splits() {
  std::vector<std::string> names;
  for (const LayoutKey& it : kLayoutKeys) names.emplace_back(it.split);
  return names;
}

Result<ValidationReport> validate_memory_layouts(const Environment& environment,
                                                 const MemoryLayoutsRequest& request) {
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  const auto all = load_rows(request, catalog->noun);
  if (!all.ok()) return all.error();
  const auto folds = folds_over(*all, request.split);
  if (!folds.ok()) return folds.error();
  const std::size_t first = request.split.empty() ? all->train : 0;

  std::vector<PredictionLine> lines(all->rows.size());
  for (std::size_t i = first; i < lines.size(); ++i) {
    lines[i].row = i - first;
    lines[i].note = all->rows[i].row.problem;
  }
  std::vector<PredictionLine> plain = lines;
  for (std::size_t i = first; i < plain.size(); ++i) {
    const LoadedMemoryCase& it = all->rows[i];
    if (it.row.problem.empty()) plain[i].predicted = plain_peak(it.as_case) / it.row.unit;
  }
  for (const Fold& fold : *folds) {
    const Status predicted = predict_layouts(*all, fold, lines);
    if (!predicted.ok()) return predicted.error();
  }
  Validation ours = score_layouts(*all, lines, first, request.split);
  Validation baseline = score_layouts(*all, plain, first, request.split);
  baseline.baseline = kRuleOfThumb;
  if (request.plain) {
    std::swap(ours, baseline);
    std::swap(lines, plain);
  }
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(first));
  return ValidationReport{std::move(ours), {std::move(baseline)}, std::move(lines)};
}

}  // namespace stint
