#include "app/plan/joint_plan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "app/plan/plan_limits.h"
#include "app/share/job_alone.h"
#include "app/share/sharing_models.h"
#include "app/share/sharing_pair.h"
#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "interleave/pairing.h"
#include "load/file_maker.h"
#include "load/startup_times.h"
#include "solver/matching.h"

namespace stint {
namespace {

/// A job with all that is known of planning it alone.
struct Candidate {
  PredictInputs inputs;
  Plan best;
  std::vector<Cluster> clusters;  // On demand, of one type.
  std::vector<std::string> assumptions;
  std::optional<Seconds> deadline;
};

/// Two jobs on the cluster where they cost least.
struct SharedPlan {
  std::size_t first = 0;
  std::size_t second = 0;
  PlannedPair pair;
  std::array<double, 2> iterations = {};
  std::vector<std::string> assumptions = {};
  std::array<bool, 2> memory_known = {};  // Of each.
  bool emulated = false;

  Dollars saved() const { return pair.separate - pair.cost; }
};

Status check(const PlanTogetherRequest& request) {
  if (request.jobs.size() < 2) {
    return bad_usage("two or more jobs are required, for example --job a.json --job b.json");
  }
  if (request.jobs.size() > kJobsTogetherMax) {
    return bad_usage(fmt::format("--job takes at most {} jobs, not {}; plan them in groups",
                                 kJobsTogetherMax, request.jobs.size()));
  }
  const std::size_t deadlines = request.deadlines.size();
  if (deadlines <= 1 || deadlines == request.jobs.size()) return {};
  return bad_usage(fmt::format("--deadline has {} values for {} jobs; give one for all or one each",
                               deadlines, request.jobs.size()));
}

std::optional<Seconds> deadline_of(const PlanTogetherRequest& request, std::size_t index) {
  if (request.deadlines.empty()) return std::nullopt;
  return request.deadlines[request.deadlines.size() == 1 ? 0 : index];
}

void add_cluster(const Cluster& cluster, std::vector<Cluster>& clusters) {
  if (std::find(clusters.begin(), clusters.end(), cluster) != clusters.end()) return;
  clusters.push_back(cluster);
}

/// The cluster of a plan, and larger ones of the same VMs.
void add_clusters(const Plan& plan, const Constraints& constraints,
                  std::vector<Cluster>& clusters) {
  if (plan.cluster.groups.size() != 1 || plan.market != PlanMarket::kOnDemand) return;
  const int count = plan.cluster.groups.front().count;
  for (const double factor : {1.0, 1.5, 2.0}) {
    if (factor > 1 && !constraints.quotas.empty()) break;
    Cluster cluster = plan.cluster;
    cluster.groups.front().count = static_cast<int>(std::ceil(factor * count));
    if (cluster.groups.front().count <= constraints.vms_max) add_cluster(cluster, clusters);
  }
}

bool allows_on_demand(const Constraints& constraints) {
  const auto& markets = constraints.markets;
  return markets.empty() ||
         std::find(markets.begin(), markets.end(), Market::kOnDemand) != markets.end();
}

Result<PlanAnswer> planned(const Candidate& candidate, const Constraints& constraints,
                           const Environment& environment, const Optimiser& optimiser) {
  PlanRequest request{.job = {}, .constraints = constraints, .objective = Objective::kCost};
  const auto question = plan_question(candidate.inputs, request);
  if (!question.ok()) return question.error();
  return optimiser(*question, *environment.clock);
}

Result<Candidate> candidate_of(const Environment& environment, const PlanTogetherRequest& request,
                               std::size_t index, const Optimiser& optimiser) {
  auto inputs = load_predict_inputs(environment, request.jobs[index], request.calibration,
                                    only_provider(request.constraints));
  if (!inputs.ok()) return inputs.error();
  Candidate it{.inputs = std::move(*inputs), .deadline = deadline_of(request, index)};
  Constraints constraints = request.constraints;
  constraints.deadline = it.deadline;
  constraints.budget.reset();
  constraints.miss.reset();  // A pair is held to its deadlines, and so is what it is compared with.
  auto answer = planned(it, constraints, environment, optimiser);
  if (!answer.ok()) return answer.error();
  if (answer->plans.empty()) {
    CHECK(answer->nearest.has_value());
    return Error{ErrorKind::kInfeasible, fmt::format("no plan for {} meets the constraints: {}",
                                                     it.inputs.job.name, answer->nearest->binding)};
  }
  it.best = answer->plans.front();
  it.assumptions = answer->assumptions;
  if (!allows_on_demand(constraints)) return it;
  constraints.markets = {Market::kOnDemand};
  constraints.deadline.reset();  // Two share the time; a pair is held to deadlines by itself.
  const auto on_demand = planned(it, constraints, environment, optimiser);
  if (!on_demand.ok()) return on_demand.error();
  for (const Plan& plan : on_demand->plans) add_clusters(plan, constraints, it.clusters);
  for (const Plan& plan : on_demand->front) add_clusters(plan, constraints, it.clusters);
  return it;
}

/// The job on a cluster to share, in as many micro-steps as fit, or nothing where it cannot run.
std::optional<JobAlone> job_on(const Candidate& candidate, const Cluster& cluster,
                               Seconds start_up) {
  JobChoice choice{.options = {.global_batch = candidate.best.global_batch}};
  if (candidate.deadline) choice.deadline = *candidate.deadline - start_up;
  if (choice.deadline && *choice.deadline <= Seconds{}) return std::nullopt;
  constexpr int kMicroStepsMax = 16;
  for (int steps = 1; steps <= kMicroStepsMax; steps *= 2) {
    choice.options.accumulation = steps;
    auto alone = job_alone(candidate.inputs, cluster, choice);
    if (alone.ok()) return std::move(*alone);
    if (alone.error().kind != ErrorKind::kInfeasible) return std::nullopt;
  }
  return std::nullopt;
}

/// What two jobs cannot cost less than on a cluster: each takes its time alone. A GPU that serves
/// both at once may compute in less than the sum of both.
Dollars least_cost(const ShareJob& a, const ShareJob& b, DollarsPerSecond rate) {
  return rate * std::max(a.iterations * a.alone, b.iterations * b.alone);
}

/// Looks for the cluster on which two jobs cost least.
class PairSearch {
 public:
  PairSearch(const std::vector<Candidate>& candidates, double confidence, Seconds start_up)
      : candidates_(candidates), confidence_(confidence), start_up_(start_up) {}

  /// Nothing where no cluster is worth sharing.
  std::optional<SharedPlan> best(std::size_t first, std::size_t second) {
    const Candidate& a = candidates_[first];
    const Candidate& b = candidates_[second];
    std::vector<Cluster> clusters = a.clusters;
    for (const Cluster& cluster : b.clusters) add_cluster(cluster, clusters);
    SharedPlan best{.first = first, .second = second};
    best.pair.separate = a.best.cost.mean + b.best.cost.mean;
    best.pair.cost = (1 - kSavingMin) * best.pair.separate;
    bool found = false;
    for (const Cluster& cluster : clusters) found = improve(cluster, best) || found;
    return found ? std::optional(std::move(best)) : std::nullopt;
  }

 private:
  /// The jobs of a cluster, predicted once.
  const std::optional<JobAlone>& alone(std::size_t index, const Cluster& cluster) {
    const auto [found, added] = known_.try_emplace({index, to_text(cluster)});
    if (added) found->second = job_on(candidates_[index], cluster, start_up_);
    return found->second;
  }

  bool improve(const Cluster& cluster, SharedPlan& best) {
    const auto& a = alone(best.first, cluster);
    const auto& b = alone(best.second, cluster);
    if (!a || !b || !a->prediction.price) return false;
    const DollarsPerSecond rate = a->prediction.price->rate;
    const Dollars start = rate * start_up_;
    if (least_cost(a->job, b->job, rate) + start >= best.pair.cost) return false;
    const std::vector<ShareJob> jobs{a->job, b->job};
    const ShareCluster shared{.rate = rate, .memory = a->accelerators};
    const SharingModels models = sharing_models(a->prediction.groups);
    const PairTerms terms{.cluster = shared, .models = models, .confidence = confidence_};
    const PairJudged judged{0, 1, pair_verdict(jobs[0], jobs[1], terms)};
    const PairVerdict& verdict = judged.verdict;
    const bool late =
        verdict.refusal != PairRefusal::kNone && verdict.refusal != PairRefusal::kNoGain;
    if (late) return false;
    const Dollars cost = rate * verdict.options.front().outcome.makespan + start;
    if (cost >= best.pair.cost) return false;
    best.pair.cluster = cluster;
    best.pair.cost = cost;
    best.pair.sharing = sharing_pair(jobs, judged, terms);
    best.pair.global_batches = {static_cast<int>(a->prediction.global_batch.value_or(1)),
                                static_cast<int>(b->prediction.global_batch.value_or(1))};
    best.assumptions = a->assumptions;
    best.assumptions.insert(best.assumptions.end(), b->assumptions.begin(), b->assumptions.end());
    best.memory_known = {a->memory_known, b->memory_known};
    best.iterations = {a->job.iterations, b->job.iterations};
    best.emulated = emulated(a->prediction.groups);
    return true;
  }

  const std::vector<Candidate>& candidates_;
  double confidence_;
  Seconds start_up_;
  std::map<std::pair<std::size_t, std::string>, std::optional<JobAlone>> known_;
};

void add_unless_there(const std::vector<std::string>& more, std::vector<std::string>& all) {
  for (const std::string& it : more) {
    if (std::find(all.begin(), all.end(), it) == all.end()) all.push_back(it);
  }
}

std::vector<std::string> names_of_jobs(const std::vector<Candidate>& candidates) {
  std::vector<std::string> names;
  for (const Candidate& it : candidates) names.push_back(it.inputs.job.name);
  return numbered(std::move(names));
}

TogetherAnswer answer_of(const std::vector<Candidate>& candidates,
                         const std::vector<SharedPlan>& chosen) {
  const std::vector<std::string> names = names_of_jobs(candidates);
  TogetherAnswer answer;
  std::vector<bool> paired(candidates.size(), false);
  std::vector<std::string> unknown;  // What memory they need.
  bool slowed = false;               // Whether computing may be while another job communicates.
  for (const SharedPlan& it : chosen) {
    PlannedPair& pair = answer.pairs.emplace_back(it.pair);
    pair.sharing.choice.members[0].job = names[it.first];
    pair.sharing.choice.members[1].job = names[it.second];
    paired[it.first] = paired[it.second] = true;
    answer.cost += it.pair.cost;
    add_unless_there(it.assumptions, answer.assumptions);
    for (const std::size_t i : {0U, 1U}) {
      if (!it.memory_known[i]) unknown.push_back(names[i == 0 ? it.first : it.second]);
    }
    slowed = slowed || !it.emulated;
  }
  if (auto assumed = memory_assumption(unknown)) answer.assumptions.push_back(std::move(*assumed));
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Plan& best = candidates[i].best;
    answer.jobs.push_back({.name = names[i],
                           .cluster = best.cluster,
                           .market = best.market,
                           .time = best.time,
                           .cost = best.cost,
                           .global_batch = best.global_batch,
                           .deadline = candidates[i].deadline,
                           .p_deadline = best.p_deadline});
    answer.separate += best.cost.mean;
    add_unless_there(candidates[i].assumptions, answer.assumptions);
    if (paired[i]) continue;
    answer.alone.push_back(names[i]);
    answer.cost += best.cost.mean;
  }
  if (answer.pairs.empty()) {
    answer.notes.emplace_back("No two jobs should share: separate clusters cost less.");
  } else if (slowed) {
    answer.assumptions.emplace_back(
        "Compute is not slowed while the other job communicates; this has not been measured on "
        "GPUs.");
  }
  return answer;
}

/// The plan of one of two jobs that share: each pays half of the bill.
Plan shared_plan(const SharedPlan& shared, std::size_t member) {
  const SharingMember& its = shared.pair.sharing.choice.members[member];
  const SharingMember& other = shared.pair.sharing.choice.members[1 - member];
  const Dollars half = shared.pair.cost / 2;
  return {.cluster = shared.pair.cluster,
          .market = PlanMarket::kOnDemand,
          .time = its.time,
          .cost = {.mean = half,
                   .p10 = half * (its.time.p10 / its.time.mean),
                   .p90 = half * (its.time.p90 / its.time.mean)},
          .p_deadline = its.p_deadline,
          .global_batch = shared.pair.global_batches[member],
          .iterations = static_cast<std::int64_t>(std::ceil(shared.iterations[member])),
          .note = fmt::format("Shares these machines with {}.", other.job)};
}

/// What a file may be called after a job.
std::string file_name(const std::string& job) {
  std::string name;
  for (const char c : job) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    name += plain || (c == '.' && !name.empty()) ? c : '-';
  }
  return name + ".plan";
}

/// Writes a plan for each job.
Result<std::vector<std::string>> save_plans(const PlanTogetherRequest& request,
                                            const std::vector<Candidate>& candidates,
                                            const std::vector<SharedPlan>& chosen) {
  const std::vector<std::string> names = names_of_jobs(candidates);
  std::vector<std::string> files;
  // The folder of the plans may be new, but not the one that it is in.
  std::error_code ignored;  // Writing into it says what is wrong.
  std::filesystem::create_directory(request.save, ignored);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    PlanAnswer answer{.job = candidate.inputs.job.name,
                      .profile = profile_path(request.jobs[i]),
                      .command = candidate.inputs.job.command,
                      .goal = PlanGoal{.objective = "cost",
                                       .deadline = candidate.deadline,
                                       .confidence = request.constraints.confidence},
                      .plans = {candidate.best}};
    set_maker(command_maker(candidate.inputs.job), answer);
    for (const SharedPlan& it : chosen) {
      if (it.first == i) answer.plans = {shared_plan(it, 0)};
      if (it.second == i) answer.plans = {shared_plan(it, 1)};
    }
    files.push_back(request.save + "/" + file_name(names[i]));
    const Status written = write_output(files.back(), write_plan(answer));
    if (!written.ok()) return written.error();
  }
  return files;
}

}  // namespace

Result<PlanTogetherOutcome> plan_together(const Environment& environment,
                                          const PlanTogetherRequest& request,
                                          const Optimiser& optimiser) {
  CHECK(environment.clock != nullptr);
  for (const Status& found : {check(request), check_limits(request.constraints)}) {
    if (!found.ok()) return found.error();
  }
  PlanTogetherOutcome outcome;
  std::vector<Candidate> candidates;
  const auto show = [&](std::size_t done) {
    if (!request.progress) return;
    request.progress(static_cast<double>(done) / static_cast<double>(2 * request.jobs.size()));
  };
  for (std::size_t i = 0; i < request.jobs.size(); ++i) {
    show(i);
    auto candidate = candidate_of(environment, request, i, optimiser);
    if (!candidate.ok()) return candidate.error();
    add_unless_there(candidate->inputs.warnings, outcome.warnings);
    candidates.push_back(std::move(*candidate));
  }
  const bool emulated = candidates.front().inputs.provider == kLocalProvider;
  const StartupTimes& times = startup_times();
  PairSearch search(candidates, request.constraints.confidence,
                    emulated ? times.plan_cluster.mean : times.vm_on_demand.mean);
  std::vector<SharedPlan> pairs;
  std::vector<MatchEdge> edges;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    show(candidates.size() + i);
    for (std::size_t k = i + 1; k < candidates.size(); ++k) {
      auto shared = search.best(i, k);
      if (!shared) continue;
      edges.push_back({.first = static_cast<int>(i),
                       .second = static_cast<int>(k),
                       .weight = matching_weight(shared->saved())});
      pairs.push_back(std::move(*shared));
    }
  }
  const auto matched = maximum_weight_matching(static_cast<int>(candidates.size()), edges);
  if (!matched.ok()) return matched.error();
  std::vector<SharedPlan> chosen;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const bool taken = std::find(matched->begin(), matched->end(), edges[i]) != matched->end();
    if (taken) chosen.push_back(pairs[i]);
  }
  outcome.answer = answer_of(candidates, chosen);
  if (request.save.empty()) return outcome;
  auto files = save_plans(request, candidates, chosen);
  if (!files.ok()) return files.error();
  outcome.files = std::move(*files);
  return outcome;
}

}  // namespace stint
