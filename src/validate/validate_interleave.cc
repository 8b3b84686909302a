#include "validate/validate_interleave.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <utility>

#include "base/check.h"
#include "interleave/pairing.h"
#include "simulate/sharing_twin.h"
#include "validate/step_trials.h"
#include "validate/validation_report.h"

namespace stint {
namespace {

constexpr Seconds kShortest = 1 * kHour;
constexpr Seconds kLongest = 10 * kHour;
constexpr BytesPerSecond kAnyNetwork = 1 * kGB / kSecond;

std::set<std::string> jobs_of(const std::vector<MixRow>& rows) {
  std::set<std::string> jobs;
  for (const MixRow& row : rows) jobs.insert(row.job);
  return jobs;
}

bool usable(const std::vector<int>& workers_by_vm, const std::vector<MixRow>& rows) {
  return workers_by_vm.size() > 1 && jobs_of(rows).size() > 1;
}

template <class T>
const T& any_of(const std::vector<T>& list, Random& random) {
  return list[static_cast<std::size_t>(random.below(static_cast<int>(list.size())))];
}

constexpr int kRandomDraws = 20;
constexpr std::uint64_t kSeed = 9;

struct World {
  const char* name;
  NetworkWhile network;
  const char* assumption;
};

constexpr World kWorlds[] = {
    {"idle", NetworkWhile::kIdle,
     "The network is busy only during the time that counts as synchronisation."},
    {"busy", NetworkWhile::kBusy,
     "The network is busy during all of backward as well, two thirds of the compute."}};

Status add_rows(const StepTrial& trial, const FitContext& context, MixTable& table) {
  const bool unseen = !std::all_of(trial.test.begin(), trial.test.end(), [&](const StepRow& row) {
    return seen_on_cluster(trial.train, row.job);
  });
  const auto fitted = fit_table(trial.train, context, unseen);
  if (!fitted.ok()) return fitted.error();
  for (const StepRow& row : trial.test) {
    if (!row.unusable.empty() || !row.time || !row.synchronisation) continue;
    if (*row.synchronisation > *row.time) continue;
    const auto law = law_row(row, fitted->alone, context.facts);
    if (!law.ok()) continue;
    const auto estimate = fitted->law.predict(row.job, law->size_known, law->input);
    std::vector<int> placement = row.workers_by_vm;
    std::sort(placement.begin(), placement.end());
    table[placement].push_back(
        {.job = row.job,
         .workers_by_vm = placement,
         .predicted = law_setup(fitted->law.fabric, fitted->law.job_law(row.job), law->input),
         .alone = estimate.time,
         .deviation = estimate.spread.above,
         .measured = *row.time,
         .synchronised = *row.synchronisation});
  }
  return {};
}

/// The choices for a mix before any measurement is used.
struct Chosen {
  std::vector<ShareJob> jobs;      // As predicted.
  std::vector<PairJudged> judged;  // All pairs.
  Pairing pairing;
  std::vector<TimeRange> saved;                         // Saving of each pair.
  std::vector<std::vector<std::size_t>> random_orders;  // Neighbours are pairs.
};

const PairJudged& judged_of(const std::vector<PairJudged>& judged, std::size_t a, std::size_t b) {
  const auto found = std::find_if(judged.begin(), judged.end(), [&](const PairJudged& it) {
    return it.first == std::min(a, b) && it.second == std::max(a, b);
  });
  CHECK(found != judged.end());
  return *found;
}

std::vector<std::size_t> shuffled(std::size_t count, Random& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  }
  return order;
}

Result<Chosen> choose(const JobMix& mix, const PairTerms& terms, Random& random) {
  Chosen chosen;
  for (const MixJob& job : mix.jobs) chosen.jobs.push_back(predicted_job(job));
  chosen.judged = judge_pairs(chosen.jobs, terms);
  auto pairing = best_pairing(chosen.jobs, chosen.judged, terms.cluster);
  if (!pairing.ok()) return pairing.error();
  chosen.pairing = std::move(*pairing);
  for (const PairJudged& pair : chosen.pairing.pairs) {
    chosen.saved.push_back(saved_range(chosen.jobs[pair.first], chosen.jobs[pair.second],
                                       pair.verdict.options.front(), terms));
  }
  for (int i = 0; i < kRandomDraws; ++i) {
    chosen.random_orders.push_back(shuffled(mix.jobs.size(), random));
  }
  return chosen;
}

/// The measured result of pairs of a mix in a world.
class Measuring {
 public:
  Measuring(const JobMix& mix, const World& world, const PairTerms& terms) : terms_(terms) {
    for (const MixJob& job : mix.jobs) jobs_.push_back(measured_job(job, world.network));
  }

  const std::vector<ShareJob>& jobs() const { return jobs_; }

  /// The pair with its chosen mode.
  PairOutcome outcome(const PairJudged& pair) const {
    const PairOption& option = pair.verdict.options.front();
    const ShareJob& a = jobs_[pair.first];
    const ShareJob& b = jobs_[pair.second];
    const auto pace = terms_.models.turns({a, b, option.mode, option.turns});
    CHECK(pace.has_value());
    return pair_outcome(work(a, pace->slowdown[0]), work(b, pace->slowdown[1]));
  }

  Seconds separate() const {
    Seconds sum;
    for (const ShareJob& job : jobs_) sum += job.iterations * job.alone;
    return sum;
  }

  /// All jobs, of which these share.
  Seconds shared(const std::vector<PairJudged>& pairs) const {
    Seconds sum = separate();
    for (const PairJudged& pair : pairs) {
      const PairOutcome it = outcome(pair);
      sum -= it.separate - it.makespan;
    }
    return sum;
  }

 private:
  static SharedWork work(const ShareJob& job, double slowdown) {
    return {.iterations = job.iterations, .alone = job.alone, .shared = slowdown * job.alone};
  }

  const PairTerms& terms_;
  std::vector<ShareJob> jobs_;
};

/// Adds up the results of mixes in a world.
class Tally {
 public:
  Status add(const Chosen& chosen, const Measuring& measuring, const PairTerms& terms) {
    const DollarsPerSecond rate = *terms.cluster.rate;
    separate_ += rate * measuring.separate();
    add("separately", rate * measuring.separate(), 0);
    add("stint", rate * measuring.shared(chosen.pairing.pairs), chosen.pairing.pairs.size());
    add_random(chosen, measuring, rate);
    add_chosen(chosen, measuring);
    const auto judged = judge_pairs(measuring.jobs(), terms);
    const auto hindsight = best_pairing(measuring.jobs(), judged, terms.cluster);
    if (!hindsight.ok()) return hindsight.error();
    add("hindsight", rate * hindsight->shared, hindsight->pairs.size());
    return {};
  }

  PairingWorld world(const World& world) const {
    PairingWorld it{.assumption = world.assumption, .policies = policies_, .chosen = chosen_};
    for (auto& [name, score] : it.policies) score.saved = 1 - score.cost / separate_;
    it.policies.at("random").pairs /= kRandomDraws;
    if (chosen_.n == 0) return it;
    for (double PairsChosen::*mean :
         {&PairsChosen::coverage80, &PairsChosen::above_p10, &PairsChosen::saved_predicted,
          &PairsChosen::saved_measured}) {
      it.chosen.*mean /= chosen_.n;
    }
    return it;
  }

 private:
  void add(const std::string& policy, Dollars cost, std::size_t pairs) {
    policies_[policy].cost += cost;
    policies_[policy].pairs += static_cast<int>(pairs);
  }

  void add_random(const Chosen& chosen, const Measuring& measuring, DollarsPerSecond rate) {
    for (const auto& order : chosen.random_orders) {
      std::vector<PairJudged> pairs;
      for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
        pairs.push_back(judged_of(chosen.judged, order[i], order[i + 1]));
      }
      add("random", rate * measuring.shared(pairs) / kRandomDraws, pairs.size());
    }
  }

  void add_chosen(const Chosen& chosen, const Measuring& measuring) {
    for (std::size_t i = 0; i < chosen.saved.size(); ++i) {
      const PairJudged& pair = chosen.pairing.pairs[i];
      const PairOutcome it = measuring.outcome(pair);
      const Seconds saved = it.separate - it.makespan;
      const TimeRange& expected = chosen.saved[i];
      ++chosen_.n;
      if (saved < Seconds{}) ++chosen_.lost;
      if (saved < Seconds{} && saved < expected.p10) ++chosen_.lost_beyond;
      if (saved >= expected.p10) ++chosen_.above_p10;
      if (saved >= expected.p10 && saved <= expected.p90) ++chosen_.coverage80;
      chosen_.saved_predicted += expected.mean / pair.verdict.options.front().outcome.separate;
      chosen_.saved_measured += saved / it.separate;
    }
  }

  Dollars separate_;
  std::map<std::string, PairingScore> policies_;
  PairsChosen chosen_;
};

Status check(const ValidateInterleaveRequest& request) {
  const Status files = check_validation_files(request.train, request.test, request.split);
  if (!files.ok()) return files;
  if (request.mixes < 1) return bad_usage("--mixes must be 1 or more");
  if (request.jobs_per_mix < 2) return bad_usage("--jobs-per-mix must be 2 or more");
  return {};
}

Result<MixTable> read_table(const ValidateInterleaveRequest& request) {
  const auto context = fit_context(request.jobs);
  if (!context.ok()) return context.error();
  const auto trials =
      read_step_trials({.train = request.train, .test = request.test, .split = request.split});
  if (!trials.ok()) return trials.error();
  MixTable table;
  for (const StepTrial& trial : *trials) {
    const Status added = add_rows(trial, *context, table);
    if (!added.ok()) return added.error();
  }
  if (has_mixes(table)) return table;
  return bad_input(
      "no placement of several VMs has measured test rows (step_time_s and sync_time_s) of two "
      "jobs, so there is nothing to pair");
}

}  // namespace

bool has_mixes(const MixTable& table) {
  return std::any_of(table.begin(), table.end(),
                     [](const auto& it) { return usable(it.first, it.second); });
}

JobMix draw_mix(const MixTable& table, int count, Random& random) {
  std::vector<const MixTable::value_type*> placements;
  for (const auto& it : table) {
    if (usable(it.first, it.second)) placements.push_back(&it);
  }
  CHECK(!placements.empty());
  const auto& [workers_by_vm, rows] = *any_of(placements, random);
  const std::set<std::string> names = jobs_of(rows);
  const std::vector<std::string> jobs(names.begin(), names.end());
  JobMix mix{.vms = static_cast<int>(workers_by_vm.size())};
  for (int i = 0; i < count; ++i) {
    const std::string& job = any_of(jobs, random);
    std::vector<const MixRow*> choices;
    for (const MixRow& row : rows) {
      if (row.job == job) choices.push_back(&row);
    }
    const MixRow* row = any_of(choices, random);
    const double logarithm = random.uniform(0, std::log(kLongest / kShortest));
    mix.jobs.push_back(
        {.row = row, .iterations = std::exp(logarithm) * (kShortest / row->measured)});
  }
  return mix;
}

ShareJob predicted_job(const MixJob& job) {
  return {.name = job.row->job,
          .setup = job.row->predicted,
          .alone = job.row->alone,
          .deviation = job.row->deviation,
          .iterations = job.iterations,
          .overlap_known = false};
}

ShareJob measured_job(const MixJob& job, NetworkWhile network) {
  const MixRow& row = *job.row;
  const Seconds compute = std::max(Seconds{}, row.measured - row.synchronised);
  const Seconds backward = (1 - kForwardShare) * compute;
  const bool busy = network == NetworkWhile::kBusy;
  const Seconds sync = row.synchronised + (busy ? backward : Seconds{});
  const int vms = static_cast<int>(row.workers_by_vm.size());
  StepSetup setup{.groups = {{.vms = vms,
                              .forward = kForwardShare * compute,
                              .backward = backward,
                              .network = {.inverse_bandwidth = 1 / kAnyNetwork}}},
                  .buckets = {{.bytes = kMB, .ready = busy ? 0.0 : 1.0}}};
  // The number of bytes that takes that long.
  setup.buckets[0].bytes = sync / bucket_time(kMB, setup) * kMB;
  return {.name = row.job,
          .setup = std::move(setup),
          .alone = row.measured,
          .iterations = job.iterations};
}

Result<InterleaveValidation> validate_interleave(const ValidateInterleaveRequest& request) {
  const Status fine = check(request);
  if (!fine.ok()) return fine.error();
  const auto table = read_table(request);
  if (!table.ok()) return table.error();
  const DollarsPerSecond vm = published_vm_price();
  // There are no data on free sharing of these jobs.
  const SharingModels models{.turns = twin_models().turns};
  std::vector<Tally> tallies(std::size(kWorlds));
  for (int i = 0; i < request.mixes; ++i) {
    Random random = Random(kSeed).fork(static_cast<std::uint64_t>(i));
    const JobMix mix = draw_mix(*table, request.jobs_per_mix, random);
    const ShareCluster cluster{.rate = mix.vms * vm};
    const PairTerms terms{.cluster = cluster, .models = models};
    const auto chosen = choose(mix, terms, random);
    if (!chosen.ok()) return chosen.error();
    for (std::size_t w = 0; w < tallies.size(); ++w) {
      const Status added = tallies[w].add(*chosen, Measuring(mix, kWorlds[w], terms), terms);
      if (!added.ok()) return added.error();
    }
  }
  InterleaveValidation validation{.mixes = request.mixes, .jobs_per_mix = request.jobs_per_mix};
  for (std::size_t w = 0; w < tallies.size(); ++w) {
    validation.worlds[kWorlds[w].name] = tallies[w].world(kWorlds[w]);
  }
  if (!request.split.empty()) validation.split = request.split;
  validation.notes.emplace_back(
      "each job was measured alone; the sharing of two jobs was not measured but simulated from "
      "the measured compute and synchronisation of each");
  validation.notes.emplace_back("jobs are assumed to fit next to each other into memory");
  return validation;
}

}  // namespace stint
