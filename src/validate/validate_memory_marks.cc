#include "validate/validate_memory_marks.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "base/text.h"
#include "calibrate/memory_mark_fit.h"
#include "load/catalog_cases.h"

namespace stint {
namespace {

constexpr const char* kSplit = "leave-one-device-out";
constexpr const char* kBaseline = "everything-fits";

using Memories = std::map<std::string, std::optional<Bytes>>;

/// Predicts the test rows of a fold into `lines`.
Status predict_fold(const std::vector<Mark>& marks, const Memories& memories, const Fold& fold,
                    std::vector<PredictionLine>& lines) {
  std::vector<MemoryTrial> trials;
  for (const std::size_t i : fold.train) {
    const auto memory = memories.at(marks[i].device);
    if (!memory || !marks[i].fits) continue;
    trials.push_back({.jobs = marks[i].jobs, .memory = *memory, .fits = *marks[i].fits});
  }
  if (trials.empty()) {
    return bad_input(
        "no row to learn from: none states whether it fits on a device whose memory is in the "
        "catalogue");
  }
  const auto model = LatentMemory::fit(trials);
  if (!model.ok()) return model.error();
  for (const std::size_t i : fold.test) {
    const auto memory = memories.at(marks[i].device);
    if (!memory) continue;
    lines[i].predicted = model->probability_fits(marks[i].jobs, *memory) >= 0.5 ? 1 : 0;
  }
  return {};
}

std::string group_of(const Mark& mark) {
  return mark.device + (mark.jobs.size() > 1 ? " pairs" : " alone");
}

/// Scores the rows from `first` on.
Validation score_lines(const std::vector<Mark>& marks, const std::vector<PredictionLine>& lines,
                       std::size_t first, const MemoryChoices& choices) {
  std::vector<ScoredMark> scored;
  int skipped = 0;
  for (std::size_t i = first; i < marks.size(); ++i) {
    if (!marks[i].fits) continue;
    if (lines[i].predicted) {
      scored.push_back({group_of(marks[i]), *lines[i].predicted > 0, *marks[i].fits});
    } else {
      ++skipped;
    }
  }
  Validation validation{.what = "memory"};
  validation.overall = score_marks(scored);
  validation.overall.skipped = skipped;
  validation.jobs = score_marks_by_group(scored);
  validation.mean_over_jobs = mean_mark_score(validation.jobs);
  validation.mean_over_jobs.skipped = skipped;
  if (!choices.split.empty()) validation.split = choices.split;
  validation.notes.emplace_back(
      "Verdicts: 1 fits, 0 does not; mape is the share of wrong verdicts.");
  return validation;
}

}  // namespace

std::optional<Bytes> device_memory(const Catalog& catalog, const std::string& device) {
  std::optional<Bytes> least;
  for (const Gpu& gpu : catalog.gpus) {
    if (!gpu.memory || !names_family(gpu.name, device)) continue;
    least = std::min(least.value_or(*gpu.memory), *gpu.memory);
  }
  return least;
}

Result<ValidationReport> validate_marks(const Environment& environment, std::vector<Mark> train,
                                        std::vector<Mark> test, const MemoryChoices& choices) {
  if (!choices.split.empty() && choices.split != kSplit) {
    return bad_usage(fmt::format("marks of what fits are split by device: --split {}", kSplit));
  }
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  const std::size_t learned = train.size();
  std::vector<Mark> marks = std::move(train);
  marks.insert(marks.end(), test.begin(), test.end());
  Memories memories;
  std::vector<std::string> devices;
  for (const Mark& mark : marks) {
    devices.push_back(mark.device);
    memories.emplace(mark.device, device_memory(catalog->noun, mark.device));
  }
  const bool split = !choices.split.empty();
  const auto folds =
      split ? leave_one_out(devices) : std::vector{train_then_test(learned, marks.size())};
  const std::size_t first = split ? 0 : learned;

  std::vector<PredictionLine> lines(marks.size());
  for (std::size_t i = first; i < lines.size(); ++i) {
    lines[i].row = i - first;
    if (memories.at(marks[i].device)) continue;
    lines[i].note = fmt::format("the catalogue has no memory of '{}'", printable(marks[i].device));
  }
  // The baseline is scored on the same rows.
  std::vector<PredictionLine> plain = lines;
  for (PredictionLine& line : plain) {
    if (line.note.empty()) line.predicted = 1;
  }
  for (const Fold& fold : folds) {
    const Status predicted = predict_fold(marks, memories, fold, lines);
    if (!predicted.ok()) return predicted.error();
  }
  Validation ours = score_lines(marks, lines, first, choices);
  Validation baseline = score_lines(marks, plain, first, choices);
  baseline.baseline = kBaseline;
  if (choices.plain) {
    std::swap(ours, baseline);
    std::swap(lines, plain);
  }
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(first));
  return ValidationReport{std::move(ours), {std::move(baseline)}, std::move(lines)};
}

}  // namespace stint
