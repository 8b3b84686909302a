#include "validate/search_replay.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "converge/steps.h"

namespace stint {
namespace {

constexpr double kProbeSteps = 12;  // As in live searches: two to warm up, ten that are timed.
constexpr int kRandomProbes = 5;

/// The cost of a second on each setup, in the unit of the objective.
std::vector<double> rates_of(const SearchWorld& world, SearchObjective objective) {
  std::vector<double> rates(world.setups.size(), 1.0);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (objective == SearchObjective::kCost) rates[i] = world.rate(i).in(kDollar / kSecond);
  }
  return rates;
}

SearchTrial trial_of(const SearchedRun& run, int probes) {
  return {.time = run.time(), .cost = run.cost(), .probes = probes, .moves = run.moves()};
}

void finish(SearchedRun& run) {
  while (!run.done()) run.train_epoch();
}

/// Posteriors by the law of other jobs.
class LawTimes : public SetupTimes {
 public:
  explicit LawTimes(const SearchCase& search)
      : inputs_(search.inputs),
        belief_(search.law, search.compute, smallest_batch(search), search.size_known),
        timed_(search.inputs.size()),
        at_({}) {}

  Status learn(std::size_t setup, Seconds time) override {
    timed_[setup] = time;
    const Status added = belief_.add({.input = inputs_[setup], .time = time});
    if (added.ok()) at_ = belief_.at(inputs_, timed_);
    return added;
  }

  const LogBelief& belief() const override { return at_; }

 private:
  static double smallest_batch(const SearchCase& search) {
    double smallest = search.inputs.front().batch_per_worker;
    for (const LawInput& it : search.inputs) smallest = std::min(smallest, it.batch_per_worker);
    return smallest;
  }

  const std::vector<LawInput>& inputs_;
  StepBelief belief_;
  std::vector<std::optional<Seconds>> timed_;
  LogBelief at_;
};

SearchTerms terms_of(const SearchCase& search, SearchObjective objective) {
  SearchTerms terms{.objective = objective,
                    .places = {},
                    .reference_batch = search.reference_batch,
                    .steps = search.steps,
                    .noise = search.noise,
                    .probe_steps = kProbeSteps};
  for (std::size_t i = 0; i < search.inputs.size(); ++i) {
    const DollarsPerSecond rate = search.world.rate(i);
    terms.places.push_back({.batch = static_cast<double>(search.world.setups[i].batch),
                            .rate = rate,
                            .move_time = search.world.move,
                            .move_cost = rate * search.world.move});
  }
  return terms;
}

/// Stint's search.
class Search {
 public:
  Search(const SearchCase& search, SearchObjective objective, std::size_t start)
      : case_(search),
        run_(search.world, start),
        mind_(terms_of(search, objective), std::make_unique<LawTimes>(search)),
        timed_(search.inputs.size()) {}

  Result<SearchTrial> run() {
    const Status first = look();
    if (!first.ok()) return first.error();
    constexpr double kLooks = 10;  // Decisions over the whole training.
    while (!run_.done()) {
      const SearchMove move = mind_.next({.now = run_.now(), .way = run_.way()});
      if (move.to != run_.now()) {
        run_.move(move.to);
        const Status seen = look();
        if (!seen.ok()) return seen.error();
        continue;
      }
      const double next = (std::floor(run_.way() * kLooks) + 1) / kLooks;
      while (!run_.done() && run_.way() < next) {
        run_.train_epoch();
        record_noise();
      }
    }
    return trial_of(run_, probes_);
  }

 private:
  /// Trains a few steps, to time them.
  Status look() {
    run_.train(kProbeSteps);
    record_noise();
    const std::size_t now = run_.now();
    if (timed_[now]) return {};
    timed_[now] = true;
    ++probes_;
    return mind_.timed(now, case_.world.setups[now].step);
  }

  void record_noise() {
    const auto scale = run_.noise();
    if (!scale || *scale <= 0) return;
    const int batch = case_.world.setups[run_.now()].batch;
    mind_.heard({.way = run_.way(), .batch = static_cast<double>(batch), .scale = *scale});
  }

  const SearchCase& case_;
  SearchedRun run_;
  SearchMind mind_;
  std::vector<bool> timed_;
  int probes_ = 0;
};

/// The setup nearest to a number of workers and a batch per worker, in ratio.
std::size_t nearest(const SearchCase& search, double workers, double batch) {
  std::size_t best = 0;
  double best_apart = 0;
  for (std::size_t i = 0; i < search.inputs.size(); ++i) {
    const double apart = std::abs(std::log(search.inputs[i].workers / workers)) +
                         std::abs(std::log(search.inputs[i].batch_per_worker / batch));
    if (i > 0 && apart >= best_apart) continue;
    best = i;
    best_apart = apart;
  }
  return best;
}

/// T = c0 + c1 b + c2 K by least squares over the probes (normal equations, barely regularised).
class ScavengerLine {
 public:
  void add(const LawInput& input, Seconds time) {
    const double row[] = {1, input.batch_per_worker, static_cast<double>(input.workers)};
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) matrix_[i][k] += row[i] * row[k];
      matrix_[i][3] += row[i] * time.in(kSecond);
    }
    least_ = std::min(least_, time.in(kSecond));
  }

  void solve() {
    for (int i = 0; i < 3; ++i) matrix_[i][i] += 1e-9;
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) {
        if (k == i) continue;
        const double factor = matrix_[k][i] / matrix_[i][i];
        for (int j = i; j < 4; ++j) matrix_[k][j] -= factor * matrix_[i][j];
      }
    }
  }

  /// Not below a tenth of the least time seen.
  double at(const LawInput& input) const {
    const double row[] = {1, input.batch_per_worker, static_cast<double>(input.workers)};
    double time = 0;
    for (int i = 0; i < 3; ++i) time += row[i] * matrix_[i][3] / matrix_[i][i];
    return std::max(time, least_ / 10);
  }

 private:
  double matrix_[3][4] = {};
  double least_ = 1e30;
};

SearchTrial search_as_scavenger(const SearchCase& search, SearchObjective objective,
                                std::size_t start) {
  SearchedRun run(search.world, start);
  const std::vector<double> rates = rates_of(search.world, objective);
  double workers_min = search.inputs[0].workers;
  double workers_max = workers_min;
  double batch_min = search.inputs[0].batch_per_worker;
  double batch_max = batch_min;
  for (const LawInput& it : search.inputs) {
    workers_min = std::min<double>(workers_min, it.workers);
    workers_max = std::max<double>(workers_max, it.workers);
    batch_min = std::min(batch_min, it.batch_per_worker);
    batch_max = std::max(batch_max, it.batch_per_worker);
  }
  ScavengerLine line;
  int probes = 0;
  const auto probe = [&](std::size_t setup) {
    if (setup != run.now()) run.move(setup);
    run.train(kProbeSteps);
    line.add(search.inputs[setup], search.world.setups[setup].step);
    ++probes;
  };
  probe(start);
  for (const double workers : {workers_min, workers_max}) {
    for (const double batch : {batch_min, batch_max}) {
      if (!run.done()) probe(nearest(search, workers, batch));
    }
  }
  line.solve();
  std::size_t best = run.now();
  double best_left = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double left =
        rates[i] * line.at(search.inputs[i]) / std::sqrt(search.world.setups[i].batch);
    if (i > 0 && left >= best_left) continue;
    best = i;
    best_left = left;
  }
  if (!run.done() && best != run.now()) run.move(best);
  finish(run);
  return trial_of(run, probes);
}

SearchTrial search_at_random(const SearchCase& search, SearchObjective objective, std::size_t start,
                             Random random) {
  SearchedRun run(search.world, start);
  const std::vector<double> rates = rates_of(search.world, objective);
  std::vector<std::size_t> seen;
  double log_noise = 0;
  double records = 0;
  const auto probe = [&](std::size_t setup) {
    if (setup != run.now()) run.move(setup);
    run.train(kProbeSteps);
    seen.push_back(setup);
    if (const auto scale = run.noise()) {
      log_noise += std::log(*scale);
      ++records;
    }
  };
  probe(start);
  for (int i = 0; i < kRandomProbes && !run.done(); ++i) {
    probe(static_cast<std::size_t>(random.below(static_cast<int>(search.inputs.size()))));
  }
  const double scale = records > 0 ? std::exp(log_noise / records) : search.reference_batch;
  std::size_t best = run.now();
  double best_left = 0;
  for (const std::size_t i : seen) {
    const SearchSetup& setup = search.world.setups[i];
    const double gain =
        step_gain(LearningRateRule::kAdaScale, scale,
                  {.reference = search.reference_batch, .batch = static_cast<double>(setup.batch)});
    const double left = rates[i] * setup.step.in(kSecond) / gain;
    if (i != seen.front() && left >= best_left) continue;
    best = i;
    best_left = left;
  }
  if (!run.done() && best != run.now()) run.move(best);
  finish(run);
  return trial_of(run, static_cast<int>(seen.size()));
}

/// The smallest cluster, and of its batches the one nearest to the job's own.
std::size_t smallest_setup(const SearchCase& search) {
  const auto rank = [&](std::size_t i) {
    const SearchSetup& setup = search.world.setups[i];
    return std::tuple(setup.workers_by_vm.size(), search.inputs[i].workers,
                      std::abs(std::log(setup.batch / search.reference_batch)));
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < search.inputs.size(); ++i) {
    if (rank(i) < rank(best)) best = i;
  }
  return best;
}

/// Seconds of a step at a batch per worker, from those of one cluster; nothing outside of them.
std::optional<double> step_at(const std::map<double, std::pair<double, int>>& times, double batch) {
  const auto above = times.lower_bound(batch);
  if (above == times.end()) return std::nullopt;
  const auto mean = [](const auto& it) { return it->second.first / it->second.second; };
  if (above->first == batch) return mean(above);
  if (above == times.begin()) return std::nullopt;
  const auto below = std::prev(above);
  const double share = (batch - below->first) / (above->first - below->first);
  return mean(below) + share * (mean(above) - mean(below));
}

WayCurve way_curve(const ConvergenceRun& run, const ReachedRun& reached, double initial_batch) {
  const double progress = reached.progress / initial_batch;
  WayCurve curve;
  for (const ConvergenceRow& row : run.epochs) {
    WayPoint point{.way = *row.progress / progress, .steps = *row.iteration};
    if (row.noise_ratio) point.noise = *row.noise_ratio * initial_batch;
    if (point.way >= 1) {
      curve.push_back({.way = 1, .steps = reached.steps, .noise = point.noise});
      break;
    }
    if (point.steps < reached.steps) curve.push_back(point);
  }
  if (curve.empty() || curve.back().way < 1) curve.push_back({.way = 1, .steps = reached.steps});
  return curve;
}

}  // namespace

std::span<const EnumName<SearchPolicy>> names_of(SearchPolicy /*type*/) {
  static constexpr EnumName<SearchPolicy> kNames[] = {{SearchPolicy::kStint, "stint"},
                                                      {SearchPolicy::kScavenger, "scavenger"},
                                                      {SearchPolicy::kRandom, "random"},
                                                      {SearchPolicy::kDefault, "default"}};
  return kNames;
}

SearchWorld search_world(std::span<const StepRow> rows, std::span<const ConvergenceRun> runs,
                         const TrainedJob& job) {
  SearchWorld world;
  for (const ConvergenceRun& run : runs) {
    const auto reached = std::find_if(job.runs.begin(), job.runs.end(),
                                      [&](const ReachedRun& it) { return it.batch == run.batch; });
    if (reached == job.runs.end()) continue;
    world.curves.emplace(run.batch, way_curve(run, *reached, job.initial_batch));
  }
  std::map<std::vector<int>, std::map<double, std::pair<double, int>>> clusters;
  for (const StepRow& row : rows) {
    if (!row.time || !row.unusable.empty()) continue;
    auto& [sum, count] = clusters[row.workers_by_vm][row.batch_per_worker];
    sum += (row.times_per_step * *row.time).in(kSecond);
    ++count;
  }
  for (const auto& [workers_by_vm, times] : clusters) {
    double workers = 0;
    for (const int here : workers_by_vm) workers += here;
    for (const auto& [batch, curve] : world.curves) {
      const auto step = step_at(times, batch / workers);
      if (!step) continue;
      world.setups.push_back(
          {.workers_by_vm = workers_by_vm, .batch = batch, .step = *step * kSecond});
    }
  }
  return world;
}

Result<SearchTrial> search_by(SearchPolicy policy, const SearchCase& search,
                              SearchObjective objective, std::size_t start, Random random) {
  CHECK(start < search.world.setups.size());
  switch (policy) {
    case SearchPolicy::kStint:
      return Search(search, objective, start).run();
    case SearchPolicy::kScavenger:
      return search_as_scavenger(search, objective, start);
    case SearchPolicy::kRandom:
      return search_at_random(search, objective, start, random);
    case SearchPolicy::kDefault: {
      SearchedRun run(search.world, smallest_setup(search));
      finish(run);
      return trial_of(run, 0);
    }
  }
  CHECK(false);
  return SearchTrial{};
}

}  // namespace stint
