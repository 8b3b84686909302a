#include "validate/validate_search.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "calibrate/convergence_runs.h"
#include "load/published_tables.h"
#include "load/startup_times.h"
#include "measure/tables/convergence_table.h"
#include "validate/step_trials.h"

namespace stint {
namespace {

constexpr std::size_t kSetupsMin = 20;

/// The contents of the tables, by job.
struct Tables {
  std::map<std::string, Rows> steps;
  std::map<std::string, std::vector<ConvergenceRun>> runs;
  std::map<std::string, TrainedJob> trained;
};

Result<Tables> read_tables(const ValidateSearchRequest& request) {
  Tables tables;
  const auto rows = read_step_tables(StepFormat::kPollux, request.steps, TableUse::kLearn);
  if (!rows.ok()) return rows.error();
  for (const StepRow& row : *rows) tables.steps[row.job].push_back(row);
  std::vector<ConvergenceRun> runs;
  for (const std::string& file : request.convergence) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    const auto epochs = read_convergence_table(*text, file, Measured::kRequired);
    if (!epochs.ok()) return epochs.error();
    for (ConvergenceRun& run : runs_of(*epochs)) runs.push_back(std::move(run));
  }
  tables.trained = trained_jobs(runs);
  for (ConvergenceRun& run : runs) tables.runs[run.job].push_back(std::move(run));
  return tables;
}

/// ln of the steps at the reference batch: measured, or by the law from the nearest batch.
double steps_at_reference(const TrainedJob& job) {
  const ReachedRun* nearest = &job.runs.front();
  const auto apart = [&](const ReachedRun& run) {
    return std::abs(std::log(run.batch / job.initial_batch));
  };
  for (const ReachedRun& run : job.runs) {
    if (apart(run) < apart(*nearest)) nearest = &run;
  }
  return nearest->progress / job.initial_batch;
}

std::vector<LawInput> inputs_of(const SearchWorld& world, std::optional<Bytes> gradients) {
  std::vector<LawInput> inputs;
  for (const SearchSetup& setup : world.setups) {
    LawInput input{.gradients = gradients.value_or(kAssumedGradients),
                   .vms = static_cast<int>(setup.workers_by_vm.size()),
                   .workers = 0,
                   .workers_on_fullest_vm = 0};
    for (const int here : setup.workers_by_vm) {
      input.workers += here;
      input.workers_on_fullest_vm = std::max(input.workers_on_fullest_vm, here);
    }
    input.batch_per_worker = static_cast<double>(setup.batch) / input.workers;
    inputs.push_back(input);
  }
  return inputs;
}

/// Nothing when the job has too few setups.
Result<std::optional<SearchCase>> case_of(const std::string& job, const Tables& tables,
                                          const FitContext& context) {
  const auto trained = tables.trained.find(job);
  if (trained == tables.trained.end()) return std::optional<SearchCase>{};
  SearchWorld world = search_world(tables.steps.at(job), tables.runs.at(job), trained->second);
  if (world.setups.size() < kSetupsMin) return std::optional<SearchCase>{};
  world.vm_price = published_vm_price();
  world.move = startup_times().restart + startup_times().vm_on_demand.mean;

  Rows others;
  for (const auto& [name, rows] : tables.steps) {
    if (name != job) others.insert(others.end(), rows.begin(), rows.end());
  }
  std::map<std::string, TrainedJob> others_trained = tables.trained;
  others_trained.erase(job);
  const auto fitted = fit_table(others, context, true);
  if (!fitted.ok()) return fitted.error();
  std::optional<Bytes> gradients;
  const auto known = context.facts.find(job);
  if (known != context.facts.end()) gradients = known->second.gradient_bytes;
  std::vector<LawInput> inputs = inputs_of(world, gradients);
  return std::optional(SearchCase{.world = std::move(world),
                                  .inputs = std::move(inputs),
                                  .reference_batch = trained->second.initial_batch,
                                  .steps = steps_at_reference(trained->second),
                                  .law = fitted->law,
                                  .compute = compute_prior(others, context.facts),
                                  .noise = noise_growth(others_trained),
                                  .size_known = gradients.has_value()});
}

/// The results of the policies from one starting point.
struct SeedOutcome {
  Seconds least_time;
  Dollars least_cost;
  std::vector<SearchTrial> trials;  // By policy.
  Status status;
};

SeedOutcome try_seed(const SearchCase& search, SearchObjective objective, std::size_t seed) {
  Random random = Random(1).fork(seed);
  const auto start =
      static_cast<std::size_t>(random.below(static_cast<int>(search.world.setups.size())));
  SeedOutcome outcome{.least_time = least_time(search.world, start),
                      .least_cost = least_cost(search.world, start),
                      .trials = {},
                      .status = {}};
  for (const auto& [policy, name] : names_of(SearchPolicy{})) {
    const auto trial = search_by(policy, search, objective, start, random.fork(1));
    if (!trial.ok()) {
      outcome.status = trial.error();
      return outcome;
    }
    outcome.trials.push_back(*trial);
  }
  return outcome;
}

Result<SearchedJob> try_job(const SearchCase& search, const ValidateSearchRequest& request,
                            const Progress& progress) {
  const auto seeds = static_cast<std::size_t>(request.seeds);
  std::vector<SeedOutcome> outcomes(seeds);
  for_each_parallel(
      seeds, [&](std::size_t seed) { outcomes[seed] = try_seed(search, request.objective, seed); },
      progress);
  SearchedJob job{.setups = static_cast<int>(search.world.setups.size()), .policies = {}};
  const double share = 1.0 / request.seeds;
  for (const SeedOutcome& it : outcomes) {
    if (!it.status.ok()) return it.status.error();
    job.oracle_time += share * it.least_time;
    job.oracle_cost += share * it.least_cost;
    std::size_t number = 0;
    for (const auto& [policy, name] : names_of(SearchPolicy{})) {
      const SearchTrial& trial = it.trials[number++];
      auto [found, fresh] = job.policies.try_emplace(std::string(name));
      SearchScore& score = found->second;
      if (fresh) score.time_over_oracle = score.cost_over_oracle = 0;
      score.time_over_oracle += share * (trial.time / it.least_time);
      score.cost_over_oracle += share * (trial.cost / it.least_cost);
      score.probes += share * trial.probes;
      score.moves += share * trial.moves;
    }
  }
  return job;
}

std::map<std::string, SearchScore> mean_over(const std::map<std::string, SearchedJob>& jobs) {
  std::map<std::string, SearchScore> means;
  const double share = 1.0 / static_cast<double>(jobs.size());
  for (const auto& [name, job] : jobs) {
    for (const auto& [policy, score] : job.policies) {
      auto [found, fresh] = means.try_emplace(policy);
      SearchScore& mean = found->second;
      if (fresh) mean.time_over_oracle = mean.cost_over_oracle = 0;
      mean.time_over_oracle += share * score.time_over_oracle;
      mean.cost_over_oracle += share * score.cost_over_oracle;
      mean.probes += share * score.probes;
      mean.moves += share * score.moves;
    }
  }
  return means;
}

Status check(const ValidateSearchRequest& request) {
  if (request.steps.empty()) return bad_usage("--steps is required: tables of step times");
  if (request.convergence.empty()) {
    return bad_usage("--convergence is required: tables of epochs at several batch sizes");
  }
  if (request.seeds < 1) return bad_usage("--seeds must be 1 or more");
  return {};
}

}  // namespace

Result<SearchValidation> validate_search(const ValidateSearchRequest& request,
                                         const Progress& progress) {
  const Status fine = check(request);
  if (!fine.ok()) return fine.error();
  const auto context = fit_context(request.jobs);
  if (!context.ok()) return context.error();
  const auto tables = read_tables(request);
  if (!tables.ok()) return tables.error();

  std::map<std::string, SearchCase> cases;
  std::vector<std::string> left_out;
  for (const auto& [job, rows] : tables->steps) {
    auto search = case_of(job, *tables, *context);
    if (!search.ok()) return search.error();
    if (*search) {
      cases.emplace(job, std::move(**search));
    } else {
      left_out.push_back(job);
    }
  }
  if (cases.empty()) {
    return bad_input(fmt::format(
        "no job has {} setups, which are clusters measured around the batch sizes of its runs",
        kSetupsMin));
  }
  SearchValidation validation{.seeds = request.seeds};
  for (const auto& [objective, name] : names_of(SearchObjective{})) {
    if (objective == request.objective) validation.objective = name;
  }
  for (const auto& [job, search] : cases) {
    const auto done = static_cast<double>(validation.jobs.size());
    const auto part = [&](double share) {
      if (progress) progress((done + share) / static_cast<double>(cases.size()));
    };
    auto found = try_job(search, request, part);
    if (!found.ok()) return found.error();
    validation.jobs.emplace(job, std::move(*found));
  }
  validation.policies = mean_over(validation.jobs);
  if (!left_out.empty()) {
    validation.notes.push_back(
        fmt::format("Left out, with fewer than {} setups: {}", kSetupsMin, join(left_out, ", ")));
  }
  return validation;
}

}  // namespace stint
