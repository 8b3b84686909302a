#include "validate/validate_pairs.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/csv.h"
#include "base/parallel.h"
#include "base/text.h"
#include "calibrate/memory_mark_fit.h"
#include "calibrate/score.h"
#include "calibrate/space_sharing.h"
#include "load/catalog_cases.h"
#include "load/published_tables.h"
#include "validate/validate_memory_marks.h"
#include "validate/validation_report.h"

namespace stint {
namespace {

constexpr const char* kByJob = "leave-one-job-out";
constexpr const char* kByPairing = "leave-one-pairing-out";
constexpr const char* kFifths = "fifths";
constexpr std::size_t kParts = 5;

constexpr const char* kCapped = "capped";
constexpr const char* kVerdicts = "fits in memory";

/// The models whose rates are scored, by the names of PairsRequest::baseline.
constexpr std::array<const char*, 3> kModels{"", "half-speed", "mean-slowdown"};
constexpr std::size_t kOurs = 0;

/// Rows that are predicted together from others.
struct PairFold {
  std::string left_out;  // The key of the held-out rows; empty: none.
  Fold rows;
};

/// The key by which a pair is held out.
std::set<std::string> names_of(const PackedPair& pair, const std::string& split) {
  const SizedJob& a = pair.first.job;
  const SizedJob& b = pair.second.job;
  if (split == kByPairing) {
    return {fmt::format("{} + {}", std::min(a.job, b.job), std::max(a.job, b.job))};
  }
  if (split == kByJob) return {a.job, b.job};
  return {fmt::format("{} (batch {})", a.job, a.batch),
          fmt::format("{} (batch {})", b.job, b.batch)};
}

std::vector<PairFold> leave_out_names(const std::vector<PackedPair>& pairs,
                                      const std::string& split) {
  std::map<std::string, Fold> folds;
  for (const PackedPair& pair : pairs) {
    for (const std::string& name : names_of(pair, split)) folds[name];
  }
  std::vector<PairFold> list;
  for (auto& [name, fold] : folds) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const bool has = names_of(pairs[i], split).contains(name);
      (has ? fold.test : fold.train).push_back(i);
    }
    list.push_back({name, std::move(fold)});
  }
  return list;
}

std::vector<PairFold> leave_out_parts(std::size_t rows) {
  std::vector<PairFold> list(std::min(kParts, rows));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      (i % kParts == k ? list[k].rows.test : list[k].rows.train).push_back(i);
    }
  }
  return list;
}

std::vector<PairFold> folds_of(const std::vector<PackedPair>& pairs, std::size_t learned,
                               const std::string& split) {
  if (split.empty()) return {{"", train_then_test(learned, pairs.size())}};
  if (split == kFifths) return leave_out_parts(pairs.size());
  return leave_out_names(pairs, split);
}

/// All inputs of the predictions.
struct PairWorld {
  std::vector<PackedPair> pairs;
  std::vector<IsolatedRate> alone;                       // Of the training files.
  std::map<std::string, std::optional<Bytes>> memories;  // Of devices.
};

/// A job in the fit of memory: names of the older table are other programs.
SizedJob sized(const PackedSide& side, bool in_steps) {
  return in_steps ? side.job : SizedJob{side.job.job + ", other units", side.job.batch};
}

std::vector<SizedJob> jobs_of(const PackedPair& pair) {
  return {sized(pair.first, pair.in_steps), sized(pair.second, pair.in_steps)};
}

Result<std::optional<LatentMemory>> learn_memory(const PairWorld& world, const Fold& fold) {
  std::vector<MemoryTrial> trials;
  const auto add = [&](std::vector<SizedJob> jobs, const std::string& device,
                       const std::optional<bool>& fits) {
    const auto memory = world.memories.at(device);
    if (memory && fits) trials.push_back({std::move(jobs), *memory, *fits});
  };
  for (const IsolatedRate& it : world.alone) add({it.job}, it.device, it.fits);
  for (const std::size_t i : fold.train) {
    const PackedPair& pair = world.pairs[i];
    if (pair.gpus_each == 1) add(jobs_of(pair), pair.device, pair.fits);
  }
  if (trials.empty()) return std::optional<LatentMemory>();
  auto model = LatentMemory::fit(trials);
  if (!model.ok()) return model.error();
  return std::optional(std::move(*model));
}

/// A test row and its predictions.
struct Outcome {
  std::size_t row = 0;
  std::string left_out;
  std::array<std::optional<SharedRates>, kModels.size()> rates;  // By model.
  std::optional<double> fits;
  std::string note;
};

std::string job_on_device(const PackedSide& side, const PackedPair& pair) {
  return fmt::format("{} with batch {} alone on {}", printable(side.job.job), side.job.batch,
                     printable(pair.device));
}

/// The reason why a pair cannot be predicted, or the basis of its prediction.
std::string remark(const PackedPair& pair, const SpaceSharing& model) {
  if (pair.gpus_each > 1) return "pairs on several GPUs each are not predicted";
  for (const PackedSide* side : {&pair.first, &pair.second}) {
    if (!side->alone) return "no rate of " + job_on_device(*side, pair);
  }
  std::vector<std::string> parts;
  for (const PackedSide* side : {&pair.first, &pair.second}) {
    if (!side->alone_worked_out) continue;
    parts.push_back(
        fmt::format("rate of {} derived from other batches", job_on_device(*side, pair)));
  }
  if (!model.knows_device(pair)) {
    parts.push_back(
        fmt::format("no pair on {} to learn from: as on other GPUs", printable(pair.device)));
  }
  return join(parts, "; ");
}

/// The models fitted to a fold.
struct Learned {
  SpaceSharing sharing;
  MeanSlowdown slowdown;
  std::optional<LatentMemory> memory;
};

std::vector<Outcome> outcomes_of(const PairWorld& world, const PairFold& fold,
                                 const Learned& learned) {
  std::vector<Outcome> outcomes;
  for (const std::size_t i : fold.rows.test) {
    const PackedPair& pair = world.pairs[i];
    Outcome it{
        .row = i,
        .left_out = fold.left_out,
        .rates = {learned.sharing.predict(pair), half_speed(pair), learned.slowdown.predict(pair)},
        .note = remark(pair, learned.sharing)};
    const auto bytes = world.memories.at(pair.device);
    if (learned.memory && bytes && pair.gpus_each == 1) {
      it.fits = learned.memory->probability_fits(jobs_of(pair), *bytes);
    }
    outcomes.push_back(std::move(it));
  }
  return outcomes;
}

Result<std::vector<Outcome>> predict_fold(const PairWorld& world, const PairFold& fold) {
  std::vector<PackedPair> train;
  for (const std::size_t i : fold.rows.train) train.push_back(world.pairs[i]);
  auto sharing = SpaceSharing::fit(train);
  if (!sharing.ok() && fold.left_out.empty()) return sharing.error();
  if (!sharing.ok()) {
    std::vector<Outcome> nothing;
    for (const std::size_t i : fold.rows.test) {
      nothing.push_back({.row = i, .left_out = fold.left_out, .note = sharing.error().message});
    }
    return nothing;
  }
  auto memory = learn_memory(world, fold.rows);
  if (!memory.ok()) return memory.error();
  return outcomes_of(world, fold, {std::move(*sharing), MeanSlowdown(train), std::move(*memory)});
}

Result<std::vector<Outcome>> predict_all(const PairWorld& world,
                                         const std::vector<PairFold>& folds) {
  std::vector<Result<std::vector<Outcome>>> parts(folds.size(), std::vector<Outcome>());
  for_each_parallel(folds.size(), [&](std::size_t i) { parts[i] = predict_fold(world, folds[i]); });
  std::vector<Outcome> all;
  for (const auto& part : parts) {
    if (!part.ok()) return part.error();
    all.insert(all.end(), part->begin(), part->end());
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Outcome& a, const Outcome& b) { return a.row < b.row; });
  return all;
}

/// The group in which a row is scored instead of the headline; empty: the headline.
std::string apart(const PackedPair& pair) {
  if (pair.unsteady) return kUnsteadyJob;
  return pair.capped_to_isolated ? kCapped : "";
}

/// The rows that a pair is scored with.
std::string group_of(const PackedPair& pair) {
  const std::string elsewhere = apart(pair);
  if (!elsewhere.empty()) return elsewhere;
  return pair.in_steps ? pair.device : pair.device + ", other units";
}

/// One job of a pair, in units of its measurement.
Scored scored_side(const PackedSide& side, const std::optional<SharedRate>& rate, std::string job,
                   std::size_t model) {
  Scored it{.job = std::move(job)};
  if (side.packed) it.measured = 1 * kSecond;
  // Without a measurement any unit does: the row is skipped.
  const PerSecond unit = side.packed.value_or(1 / kSecond);
  if (!rate) return it;
  it.predicted = rate->median / unit * kSecond;
  if (model != kOurs) return it;
  it.p10 = rate->p10 / unit * kSecond;
  it.p90 = rate->p90 / unit * kSecond;
  return it;
}

/// Errors of rates and verdicts on rows.
struct Tally {
  std::vector<Scored> headline;
  std::map<std::string, std::vector<Scored>> groups;
  std::vector<ScoredMark> verdicts;
};

/// Baselines predict that everything fits.
Tally tally(const PairWorld& world, const std::vector<Outcome>& outcomes, bool by_left_out,
            std::size_t model) {
  Tally all;
  for (const Outcome& it : outcomes) {
    const PackedPair& pair = world.pairs[it.row];
    const auto& rates = it.rates[model];
    if (it.fits && pair.fits) {
      all.verdicts.push_back({kVerdicts, model != kOurs || *it.fits >= 0.5, *pair.fits});
    }
    if (pair.fits == false) continue;
    const auto add = [&](const PackedSide& side, const std::optional<SharedRate>& rate) {
      const Scored scored =
          scored_side(side, rate, by_left_out ? it.left_out : side.job.job, model);
      all.groups[group_of(pair)].push_back(scored);
      if (apart(pair).empty()) all.headline.push_back(scored);
    };
    add(pair.first, rates ? std::optional(rates->first) : std::nullopt);
    add(pair.second, rates ? std::optional(rates->second) : std::nullopt);
  }
  return all;
}

Validation validation_of(const PairWorld& world, const std::vector<Outcome>& outcomes,
                         const PairsRequest& request, std::size_t model) {
  const bool by_left_out = !request.split.empty() && request.split != kFifths;
  const Tally all = tally(world, outcomes, by_left_out, model);
  Validation it{
      .what = "pairs", .overall = score(all.headline), .jobs = score_by_job(all.headline)};
  it.mean_over_jobs = mean_over(it.jobs);
  for (const auto& [name, rows] : all.groups) it.groups[name] = score(rows);
  if (!all.verdicts.empty()) it.groups[kVerdicts] = score_marks(all.verdicts);
  if (!request.split.empty()) it.split = request.split;
  if (model != kOurs) it.baseline = kModels[model];
  it.notes.emplace_back(
      "Errors are of the rate of each of the two jobs of a pair; pairs that do not fit are not "
      "scored, and pairs with Recommendation or capped to the isolated rates only separately.");
  if (by_left_out) {
    it.notes.emplace_back(
        "Scores are by held-out job, with both jobs of each of its pairs; a pair of two held-out "
        "jobs is predicted twice.");
  }
  return it;
}

RateCells cells_of(const SharedRate& rate, std::size_t model) {
  const auto number = [](PerSecond it) { return it.in(1 / kSecond); };
  if (model != kOurs) return {.predicted = number(rate.median)};
  return {.predicted = number(rate.median), .p10 = number(rate.p10), .p90 = number(rate.p90)};
}

/// Baselines do not predict memory.
std::vector<PairLine> lines_of(const std::vector<Outcome>& outcomes, std::size_t first,
                               std::size_t model) {
  std::vector<PairLine> lines;
  for (const Outcome& it : outcomes) {
    PairLine line{.row = it.row - first, .note = it.note};
    if (model == kOurs) line.fits = it.fits;
    if (const auto& rates = it.rates[model]) {
      line.first = cells_of(rates->first, model);
      line.second = cells_of(rates->second, model);
    }
    if (!it.left_out.empty()) {
      line.note += (line.note.empty() ? "without " : "; without ") + it.left_out;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

Result<PairWorld> world_of(const Environment& environment, PairTables train, PairTables test) {
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  PairWorld world{.pairs = std::move(train.pairs), .alone = train.alone};
  world.pairs.insert(world.pairs.end(), test.pairs.begin(), test.pairs.end());
  train.alone.insert(train.alone.end(), test.alone.begin(), test.alone.end());
  fill_alone(world.pairs, train.alone);
  for (const PackedPair& it : world.pairs) {
    world.memories.emplace(it.device, device_memory(catalog->noun, it.device));
  }
  for (const IsolatedRate& it : world.alone) {
    world.memories.emplace(it.device, device_memory(catalog->noun, it.device));
  }
  return world;
}

std::string number_cell(const std::optional<double>& number) {
  return number ? fmt::format("{:.9g}", *number) : "";
}

}  // namespace

Result<PairsReport> validate_pairs(const Environment& environment, const PairsRequest& request) {
  const Status files = check_validation_files(request.train, request.test, request.split);
  if (!files.ok()) return files.error();
  auto train = read_pair_tables(request.train);
  if (!train.ok()) return train.error();
  auto test = read_pair_tables(request.test);
  if (!test.ok()) return test.error();
  if (train->pairs.empty()) return bad_input("the training files have no packed pairs");
  if (request.split.empty() && test->pairs.empty()) {
    return bad_input("the test files have no packed pairs");
  }
  const std::size_t learned = train->pairs.size();
  const auto world = world_of(environment, std::move(*train), std::move(*test));
  if (!world.ok()) return world.error();
  const auto folds = folds_of(world->pairs, learned, request.split);
  if (!request.split.empty() && folds.size() < 2) {
    return bad_input(
        "the training files have pairs of one job only, so none is left to learn from; give "
        "--test");
  }
  const auto outcomes = predict_all(*world, folds);
  if (!outcomes.ok()) return outcomes.error();
  const auto asked = std::find(kModels.begin(), kModels.end(), request.baseline);
  CHECK(asked != kModels.end());
  const auto chosen = static_cast<std::size_t>(asked - kModels.begin());
  const std::size_t first = request.split.empty() ? learned : 0;
  PairsReport report{.validation = validation_of(*world, *outcomes, request, chosen),
                     .predictions = lines_of(*outcomes, first, chosen)};
  for (std::size_t model = 0; model < kModels.size(); ++model) {
    if (model == chosen) continue;
    report.beside.push_back(validation_of(*world, *outcomes, request, model));
  }
  return report;
}

std::string pair_predictions_csv(std::span<const PairLine> lines) {
  std::string text = csv_line(
      {"row", "predicted_a", "predicted_b", "p10_a", "p90_a", "p10_b", "p90_b", "fits", "note"});
  for (const PairLine& line : lines) {
    text += csv_line({fmt::format("{}", line.row), number_cell(line.first.predicted),
                      number_cell(line.second.predicted), number_cell(line.first.p10),
                      number_cell(line.first.p90), number_cell(line.second.p10),
                      number_cell(line.second.p90), number_cell(line.fits), line.note});
  }
  return text;
}

}  // namespace stint
