#include "app/search/search_setup.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "app/search/move_forecast.h"
#include "base/file.h"
#include "base/normal.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "converge/steps.h"
#include "run/run_folder.h"

namespace stint {
namespace {

constexpr int kNoiseEvery = 3;      // Steps; measuring gradients is a pass over them.
constexpr double kSameSize = 0.05;  // Gradients of the same job differ by no more.
constexpr std::size_t kForeseenMax = 20;

Status check(const SearchRequest& request) {
  if (request.run.job.empty()) return bad_usage("--job is required: the profile of the job");
  if (!request.loss_target && !request.steps) {
    return bad_usage(
        "--target is required: steps=500 (at the job's own batch size), or loss=0.4 with --steps");
  }
  if (request.loss_target && !request.steps) {
    return bad_usage(
        "--steps is required: an estimate of the steps to the target loss, at the job's own batch "
        "size");
  }
  return {};
}

/// The results of an earlier search of the job, unless it was another job of that name.
std::optional<SearchRecord> learned_of(const Environment& environment, const JobProfile& job) {
  const std::string path = learned_path(environment, job.name);
  const auto text = read_file(path);
  if (!text.ok()) return std::nullopt;
  auto record = read_search(*text, path);
  if (!record.ok()) return std::nullopt;
  const double ratio = record->noun.gradients / job.gradient_bytes;
  if (std::abs(ratio - 1) > kSameSize) return std::nullopt;
  return std::move(record->noun);
}

PredictedSetup predicted(const LiveSetup& setup, const std::vector<std::string>& types) {
  std::vector<int> slots;
  for (int slot = 0; slot < setup.vms; ++slot) slots.push_back(slot);
  const RunStepTime step = step_time_of(setup.plan, slots);
  const double spread = std::log(step.p90 / step.p10) / (2 * normal_quantile(0.9));
  return {.time = step.mean,
          .deviation = std::max(0.0, spread),
          .types = worker_shares(setup, types),
          .workers = workers_of(setup.plan),
          .batch = setup.choice.batch};
}

std::optional<std::size_t> setup_of(const PreparedSearch& search, const SearchChoice& choice) {
  for (std::size_t i = 0; i < search.setups.size(); ++i) {
    if (search.setups[i].choice == choice) return i;
  }
  return std::nullopt;
}

/// The fewest machines, then the cheapest, then the batch nearest to the job's own, then the most
/// workers.
std::size_t smallest(const PreparedSearch& search) {
  const auto rank = [&](const LiveSetup& setup) {
    const double off = static_cast<double>(setup.choice.batch) / search.record.reference_batch;
    return std::tuple(setup.vms, setup.rate.in(kDollar / kHour), std::abs(std::log(off)),
                      -workers_of(setup.plan));
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < search.setups.size(); ++i) {
    if (rank(search.setups[i]) < rank(search.setups[best])) best = i;
  }
  return best;
}

Result<std::size_t> start_of(const PreparedSearch& search, const std::string& asked) {
  if (!asked.empty()) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < search.setups.size(); ++i) {
      const auto apart = [&](std::size_t k) {
        const LiveSetup& setup = search.setups[k];
        return std::pair(std::abs(setup.choice.batch - search.record.reference_batch),
                         -workers_of(setup.plan));
      };
      if (!same_cluster(search.setups[i].choice.cluster, asked)) continue;
      if (!best || apart(i) < apart(*best)) best = i;
    }
    if (best) return *best;
    return bad_usage(
        fmt::format("--start {} is not one of the clusters to search", printable(asked)));
  }
  const bool same = search.learned && search.learned->choice &&
                    search.learned->objective == search.record.objective;
  if (same) {
    if (const auto found = setup_of(search, *search.learned->choice)) return *found;
  }
  const bool knows = search.learned || search.record.mode == SearchMode::kNone;
  if (!knows) return smallest(search);
  return search_mind(search)->best({.now = smallest(search)});
}

/// Warnings that are useful before the search starts.
Status check_budget(const PreparedSearch& search) {
  if (search.record.mode == SearchMode::kNone || search.setups.size() < 2) return {};
  const auto mind = search_mind(search);
  const SearchStanding at{.now = search.start};
  const std::vector<SearchOutlook> outlooks = mind->outlooks(at);
  const auto worth = [&](Seconds time, Dollars cost) {
    return search.record.objective == "cost" ? cost.in(kDollar) : time.in(kSecond);
  };
  const SearchOutlook& whole = outlooks[mind->best(at)];
  double least = 0;
  for (std::size_t i = 0; i < search.setups.size(); ++i) {
    const double probe = worth(mind->probe_time(i, at), mind->probe_cost(i, at));
    if (i != search.start && (least == 0 || probe < least)) least = probe;
  }
  const double share = least / worth(whole.time, whole.cost);
  if (share <= *search.record.budget) return {};
  return bad_usage(
      fmt::format("--search-budget {:.3g}% is too small for one probe, which takes {:.1f} % of the "
                  "training; raise it, use fewer --probe-steps, or use --mode none",
                  100 * *search.record.budget, std::ceil(1000 * share) / 10));
}

/// Infeasible: limits that no setup keeps from the start, even if its steps take the 10th
/// percentile of their time.
Status check_limits(const PreparedSearch& search) {
  const SearchRecord& record = search.record;
  if (!record.time_max && !record.cost_max) return {};
  const auto mind = search_mind(search);
  std::optional<Seconds> least_time;
  std::optional<Dollars> least_cost;
  const std::vector<SearchOutlook> outlooks = mind->outlooks({.now = search.start});
  for (std::size_t i = 0; i < outlooks.size(); ++i) {
    if (mind->ruled_out(i)) continue;
    const Seconds time = outlooks[i].step_p10 * outlooks[i].steps * kSecond;
    const Dollars cost = search.setups[i].rate * time;
    const bool kept =
        time <= record.time_max.value_or(time) && cost <= record.cost_max.value_or(cost);
    if (kept) return {};
    least_time = std::min(least_time.value_or(time), time);
    least_cost = std::min(least_cost.value_or(cost), cost);
  }
  if (!least_time) return {};
  std::vector<std::string> limits;
  if (record.time_max) limits.push_back("--max-time " + to_text(*record.time_max));
  if (record.cost_max) limits.push_back("--max-cost " + to_text(*record.cost_max));
  return Error{
      ErrorKind::kInfeasible,
      fmt::format("no setup keeps {}: the fastest takes at least {:.3g} s, the cheapest "
                  "costs at least {:.3g} USD",
                  join(limits, " and "), least_time->in(kSecond), least_cost->in(kDollar))};
}

SearchRecord record_of(const SearchRequest& request, const JobProfile& job, int reference) {
  SearchRecord record{
      .job = job.name,
      .gradients = job.gradient_bytes,
      .mode = request.mode,
      .rule = request.rule.value_or(job.learning_rate_rule.value_or(LearningRateRule::kAdaScale)),
      .reference_batch = reference,
      .goal = *request.steps,
      .loss_target = request.loss_target,
      .time_max = request.time_max,
      .cost_max = request.cost_max,
      .budget = request.budget.value_or(kSearchBudget),
      .probe_steps = static_cast<double>(request.probe_steps)};
  for (const auto& [objective, name] : names_of(SearchObjective{})) {
    if (objective == request.objective) record.objective = name;
  }
  return record;
}

SearchObjective objective_of(const SearchRecord& record) {
  for (const auto& [objective, name] : names_of(SearchObjective{})) {
    if (name == record.objective) return objective;
  }
  return SearchObjective::kCost;
}

/// Machines that keep checkpoints belong to every setup.
void add_keepers(const RunPlan& plan, std::vector<LiveSetup>& setups) {
  for (LiveSetup& setup : setups) {
    for (const RunMachines& machines : plan.machines) {
      if (!machines.trains) setup.plan.machines.push_back(machines);
    }
  }
}

/// Setups that ran out of memory before are not tried again.
void apply_limits(const SearchRecord& known, std::vector<LiveSetup>& setups) {
  for (const MemoryLimit& limit : known.memory) {
    for (LiveSetup& setup : setups) limit_memory(setup, limit.type, limit.samples);
  }
}

}  // namespace

std::string learned_path(const Environment& environment, const std::string& job) {
  std::string name;
  for (const char c : job) name += check_run_name(std::string(1, c)).ok() ? c : '-';
  return *environment.state_folder + "/searches/job-" + name + ".json";
}

std::unique_ptr<SearchMind> search_mind(const PreparedSearch& search) {
  const SearchRecord& record = search.record;
  SearchTerms terms{.objective = objective_of(record),
                    .places = {},
                    .reference_batch = static_cast<double>(record.reference_batch),
                    .steps = record.goal,
                    .rule = record.rule,
                    .noise = universal_noise_prior(),
                    .time_max = record.time_max,
                    .cost_max = record.cost_max,
                    .probes = record.mode != SearchMode::kNone,
                    .budget = record.budget,
                    .probe_steps = record.probe_steps};
  std::vector<PredictedSetup> predictions;
  std::vector<std::string> types;
  for (const LiveSetup& setup : search.setups) {
    for (const RunMachines& machines : setup.plan.machines) {
      const bool known = std::find(types.begin(), types.end(), machines.type) != types.end();
      if (machines.trains && !known) types.push_back(machines.type);
    }
  }
  for (const LiveSetup& setup : search.setups) {
    const MoveForecast move = move_forecast(search.run.record, nullptr, setup.plan);
    terms.places.push_back({.batch = static_cast<double>(setup.choice.batch),
                            .rate = setup.rate,
                            .move_time = move.time.mean,
                            .move_cost = move.cost.mean});
    predictions.push_back(predicted(setup, types));
  }
  auto mind =
      std::make_unique<SearchMind>(std::move(terms), std::make_unique<PredictedTimes>(predictions));
  const auto teach = [&](const SearchRecord& known) {
    for (const SearchProbe& probe : known.probes) {
      const auto setup = setup_of(search, choice_of(probe));
      if (setup) (void)mind->timed(*setup, probe.step);
    }
    for (const SearchNoise& noise : known.noise) {
      mind->heard(
          {.way = noise.way, .batch = static_cast<double>(noise.batch), .scale = noise.scale});
    }
    for (const SurfaceRow& row : known.surface) {
      const auto setup = setup_of(search, choice_of(row));
      if (setup && row.ruled_out) mind->rule_out(*setup);
    }
  };
  if (search.learned) teach(*search.learned);
  teach(record);
  return mind;
}

RunBatch training_of(const PreparedSearch& search, const SearchMind& mind, std::size_t setup,
                     double progress, std::int64_t done) {
  const SearchRecord& record = search.record;
  const int batch = search.setups[setup].choice.batch;
  const double way = std::clamp(progress / record.goal, 0.0, 1.0);
  const double scale = mind.noise_scale(way, batch);
  const BatchChange change{.reference = static_cast<double>(record.reference_batch),
                           .batch = static_cast<double>(batch)};
  const double gain = step_gain(record.rule, scale, change);
  const double left = std::max(0.0, record.goal - progress) / gain;
  return {.batch = batch,
          .steps = done + std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(left))),
          .gain = gain,
          .rate = learning_rate_factor(record.rule, scale, change),
          .noise_every = kNoiseEvery};
}

Result<PreparedSearch> prepare_search(const Environment& environment,
                                      const SearchRequest& request) {
  const Status fine = check(request);
  if (!fine.ok()) return fine.error();
  if (!environment.state_folder) {
    return failed("there is no folder for searches: set HOME or XDG_STATE_HOME");
  }
  auto inputs = load_predict_inputs(environment, request.run.job, request.run.calibration,
                                    std::string(kLocalProvider));
  if (!inputs.ok()) return inputs.error();
  std::optional<int> reference = request.run.global_batch;
  if (!reference && inputs->job.batch) reference = inputs->job.batch->reference;
  if (!reference) {
    return bad_usage("--batch is required: the usual samples per step of the job");
  }
  PreparedSearch search;
  auto setups = search_space(request, *inputs, *reference);
  if (!setups.ok()) return setups.error();
  search.setups = std::move(*setups);
  search.record = record_of(request, inputs->job, *reference);
  if (request.mode != SearchMode::kFull) search.learned = learned_of(environment, inputs->job);
  if (search.learned) apply_limits(*search.learned, search.setups);

  // The market has capacity for the largest cluster, which the job's own batch may be too small
  // for.
  RunRequest run = request.run;
  const LiveSetup& largest =
      *std::max_element(search.setups.begin(), search.setups.end(),
                        [](const LiveSetup& a, const LiveSetup& b) { return a.vms < b.vms; });
  run.cluster = largest.choice.cluster;
  run.global_batch = largest.choice.batch;
  run.steps = std::max<std::int64_t>(1, std::llround(*request.steps));
  auto prepared = prepare_run(environment, run, std::move(*inputs));
  if (!prepared.ok()) return prepared.error();
  search.run = std::move(*prepared);
  search.run.record.global_batch = *reference;
  search.run.record.budget = request.cost_max;
  search.run.record.plain.reset();  // A search changes batches, which only stint.Job can do.
  add_keepers(search.run.record.plan, search.setups);
  search.record.name = search.run.record.name;
  const auto start = start_of(search, request.run.cluster);
  if (!start.ok()) return start.error();
  search.start = *start;
  const Status feasible = check_limits(search);
  if (!feasible.ok()) return feasible.error();
  const Status affordable = check_budget(search);
  if (!affordable.ok() && request.budget) return affordable.error();
  if (!affordable.ok()) {
    search.record.warnings.push_back(
        fmt::format("No probes; moves follow predictions only: {}", affordable.error().message));
  }
  RunRecord& record = search.run.record;
  record.plan = search.setups[search.start].plan;
  record.plan.training = training_of(search, *search_mind(search), search.start, 0, 0);
  record.forecast.reset();  // The setups that the search will use are not known yet.
  if (request.mode == SearchMode::kNone && !search.learned) {
    search.record.warnings.push_back(
        "There are no earlier results of this job; the setup follows predictions only.");
  }
  return search;
}

Result<PreparedSearch> reopen_search(const Environment& environment, const std::string& folder,
                                     const RunRecord& run) {
  const auto text = read_file(search_path(folder));
  if (!text.ok()) return text.error();
  auto record = read_search(*text, search_path(folder));
  if (!record.ok()) return record.error();
  auto inputs = load_predict_inputs(environment, job_path(folder), "", std::string(kLocalProvider));
  if (!inputs.ok()) return inputs.error();
  PreparedSearch search{.run = {.record = run, .inputs = std::move(*inputs)},
                        .record = std::move(record->noun)};
  auto setups = search_space_again(search.run.inputs, search.record);
  if (!setups.ok()) return setups.error();
  search.setups = std::move(*setups);
  add_keepers(run.plan, search.setups);
  if (search.record.mode != SearchMode::kFull) {
    search.learned = learned_of(environment, search.run.inputs.job);
  }
  if (search.learned) apply_limits(*search.learned, search.setups);
  apply_limits(search.record, search.setups);
  return search;
}

std::vector<ForeseenProbe> foresee(const PreparedSearch& search) {
  const auto mind = search_mind(search);
  SearchStanding at{.now = search.start};
  std::vector<ForeseenProbe> found;
  std::vector<bool> seen(search.setups.size());
  while (found.size() < kForeseenMax) {
    const SearchOutlook here = mind->outlooks(at)[at.now];
    (void)mind->timed(at.now, here.step_mean * kSecond);
    seen[at.now] = true;
    const SearchMove move = mind->next(at);
    if (move.to == at.now || seen[move.to]) break;
    const Seconds time = mind->probe_time(move.to, at);
    const Dollars cost = mind->probe_cost(move.to, at);
    const bool pays = move.plain < move.stay;
    found.push_back(
        {.choice = search.setups[move.to].choice, .time = time, .cost = cost, .stays = pays});
    at.time += time;
    at.cost += cost;
    if (!pays) at.probe_time += time;
    if (!pays) at.probe_cost += cost;
    at.now = move.to;
  }
  return found;
}

}  // namespace stint
