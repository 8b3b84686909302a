#include "app/plan/plan_cases.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <utility>

#include "app/plan/plan_limits.h"
#include "app/sound_answer.h"
#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "job/job.h"
#include "load/checkpoint_times.h"
#include "load/file_maker.h"
#include "load/job_overrides.h"
#include "load/plan_files.h"
#include "load/startup_times.h"
#include "optimise/compare.h"

namespace stint {
namespace {

constexpr const char* kKnee = "knee";

/// How far each point is from the first along the front, with time and cost on log scales.
std::vector<double> way_along(const std::vector<Plan>& front) {
  std::vector<double> way = {0};
  for (std::size_t i = 1; i < front.size(); ++i) {
    const double time = std::log(front[i].time.mean / front[i - 1].time.mean);
    const double cost = std::log(front[i].cost.mean / front[i - 1].cost.mean);
    way.push_back(way.back() + std::hypot(time, cost));
  }
  return way;
}

/// `rows` points of the front that are about evenly far apart, with both ends and `always` among
/// them where there is room.
std::vector<std::size_t> spread(const std::vector<Plan>& front, std::size_t always,
                                std::size_t rows) {
  const std::vector<double> way = way_along(front);
  std::set<std::size_t> chosen = {always};
  if (rows > 1) chosen.insert(0);
  if (rows > 2) chosen.insert(front.size() - 1);
  while (chosen.size() < std::min(rows, front.size())) {
    // The point that is farthest from all that were chosen.
    std::size_t farthest = 0;
    double most = -1;
    for (std::size_t i = 0; i < front.size(); ++i) {
      double nearest = std::numeric_limits<double>::infinity();
      for (const std::size_t k : chosen) nearest = std::min(nearest, std::abs(way[i] - way[k]));
      if (chosen.count(i) > 0 || nearest <= most) continue;
      most = nearest;
      farthest = i;
    }
    chosen.insert(farthest);
  }
  return {chosen.begin(), chosen.end()};
}

Objective objective_of(const PlanRequest& request) {
  if (request.objective) return *request.objective;
  if (request.constraints.deadline) return Objective::kCost;
  if (request.constraints.budget) return Objective::kTime;
  // A policy's plan is one point, which the cheapest compares with.
  return request.policy ? Objective::kCost : Objective::kFront;
}

Result<Policy> find_policy(const std::string& wanted) {
  std::vector<std::string> known;
  for (const auto& [policy, name] : names_of(Policy{})) {
    if (wanted == name) return policy;
    known.emplace_back(name);
  }
  return bad_usage(fmt::format("there is no policy '{}'; the policies are {}", printable(wanted),
                               join(known, ", ")));
}

/// The policy that is asked for, if any.
Result<std::optional<PolicyRequest>> policy_of(const PlanRequest& request) {
  std::optional<Policy> policy;
  if (request.policy) {
    const auto found = find_policy(*request.policy);
    if (!found.ok()) return found.error();
    policy = *found;
  }
  if (policy && request.objective) {
    return bad_usage("--policy and --objective exclude each other; give one of them");
  }
  const bool scavenger = policy == Policy::kScavenger;
  if (scavenger && !request.vm) {
    return bad_usage("--policy scavenger needs a VM type; add for example --vm g4dn.xlarge");
  }
  if (request.vm && !scavenger) {
    return bad_usage("--vm is the VM type of the policy scavenger; add --policy scavenger");
  }
  if (!policy) return std::optional<PolicyRequest>();
  return std::optional(PolicyRequest{.policy = *policy, .vm = request.vm});
}

Status check_vm(const Catalog& catalog, const PlanRequest& request) {
  if (!request.vm) return {};
  const auto name = parse_vm_name(*request.vm);
  if (!name.ok()) return name.error();
  const auto type = find_type(catalog, *name);
  return type.ok() ? Status() : Status(type.error());
}

/// Plans are made from the times of one worker, which most shipped jobs leave to be measured.
Status check_measured(const JobProfile& job) {
  if (!job.compute.empty()) return {};
  return bad_input(fmt::format(
      "the job {} has no measured times to plan with; measure iterations of one worker and add "
      "them to \"compute\" in its profile, or plan a known model, for example --model resnet50 "
      "('stint models list' shows all)",
      printable(job.name)));
}

/// Makes the points of the front the plans, where that is what was asked for: the optimiser's first
/// plan is the knee then.
void arrange(PlanAnswer& answer, Objective objective, int rows) {
  const bool traded_off = objective == Objective::kFront || objective == Objective::kKnee;
  if (!traded_off || answer.plans.empty()) return;
  const auto on_front =
      std::find_if(answer.front.begin(), answer.front.end(),
                   [&](const Plan& plan) { return same_plan(plan, answer.plans.front()); });
  if (on_front == answer.front.end()) return;
  mark_knee(*on_front);
  answer.plans = front_rows(answer.front, rows);
  if (objective == Objective::kFront) return;
  const auto knee = std::find_if(answer.plans.begin(), answer.plans.end(), is_knee);
  std::rotate(answer.plans.begin(), knee, knee + 1);
}

/// What we would rent or, with a policy, what it rents and beside it what we would.
Status answer_question(const PlanQuestion& question, const std::optional<PolicyRequest>& policy,
                       const Optimiser& optimiser, const Clock& clock, PlanOutcome& outcome) {
  auto own = optimiser(question, clock);
  if (!own.ok()) return own.error();
  if (!policy) {
    outcome.answer = std::move(*own);
    return {};
  }
  // The VM type that a policy is told to rent is asked for, whatever its processor.
  PlanQuestion told = question;
  if (policy->vm) {
    const auto name = parse_vm_name(*policy->vm);
    if (name.ok()) told.constraints.machines.asked.push_back(name->name);
  }
  auto others = plan_by_policy(told, *policy, clock);
  if (!others.ok()) return others.error();
  outcome.answer = std::move(*others);
  if (!own->plans.empty()) outcome.ours = own->plans.front();
  return {};
}

/// The clusters to compare with. Usage error: one that is no cluster of the catalogue.
Result<std::vector<Cluster>> compared_clusters(const Catalog& catalog, const PlanRequest& request) {
  std::vector<Cluster> clusters;
  for (const std::string& text : request.compare) {
    auto cluster = parse_cluster(text);
    if (!cluster.ok()) return bad_usage("--compare: " + cluster.error().message);
    for (const VmGroup& group : cluster->groups) {
      const auto type = find_type(catalog, group.vm);
      if (!type.ok()) return bad_usage("--compare: " + type.error().message);
    }
    clusters.push_back(std::move(*cluster));
  }
  return clusters;
}

/// Puts `cluster` beside the first plan of the answer. A cluster without a plan is a part of the
/// answer, and so is why.
void compare(const PlanQuestion& question, const Cluster& cluster, PlanAnswer& answer) {
  ComparedPlan compared{.cluster = to_text(cluster)};
  auto plan = plan_on(question, cluster);
  if (!plan.ok()) {
    compared.problem = plan.error().message;
  } else {
    if (!answer.plans.empty()) {
      compared.dearer = plan->cost.mean - answer.plans.front().cost.mean;
      compared.longer = plan->time.mean - answer.plans.front().time.mean;
    }
    compared.plan = std::move(*plan);
  }
  answer.compared.push_back(std::move(compared));
}

/// Keeps the answer for `--plan N`, and where the request says.
Status keep(const Environment& environment, const PlanRequest& request, const JobProfile& job,
            PlanOutcome& outcome) {
  // Of interest to who runs it only, and different on every computer.
  PlanAnswer with_profile = outcome.answer;
  with_profile.profile = profile_path(request.job);
  if (any_override(request.overrides)) with_profile.job_overrides = request.overrides;
  set_maker(request.command.empty() ? command_maker(job) : this_maker(), with_profile);
  if (!request.save.empty()) {
    const Status saved = write_output(request.save, write_plan(with_profile));
    if (!saved.ok()) return saved.error();
  }
  // What came from standard input is not there for whoever runs the plan.
  const auto profile = request.job == kStandardInput
                           ? keep_job(environment, job)
                           : Result<std::string>(with_profile.profile.value_or(""));
  if (profile.ok() && !profile->empty()) with_profile.profile = *profile;
  const Status kept = keep_plan(environment, with_profile);
  outcome.kept = kept.ok();
  if (!kept.ok()) {
    outcome.warnings.push_back("the answer was not stored for 'stint explain': " +
                               kept.error().message);
  }
  return {};
}

}  // namespace

void mark_knee(Plan& plan) {
  if (is_knee(plan)) return;
  plan.note = plan.note ? std::string(kKnee) + "; " + *plan.note : kKnee;
}

bool is_knee(const Plan& plan) { return plan.note && plan.note->starts_with(kKnee); }

bool same_plan(const Plan& a, const Plan& b) {
  return a.cluster == b.cluster && a.global_batch == b.global_batch && a.time.mean == b.time.mean;
}

std::vector<Plan> front_rows(const std::vector<Plan>& front, int rows) {
  CHECK(rows >= 1);
  const auto knee = std::find_if(front.begin(), front.end(), is_knee);
  CHECK(knee != front.end());
  const auto at = static_cast<std::size_t>(knee - front.begin());
  std::vector<Plan> plans;
  for (const std::size_t index : spread(front, at, static_cast<std::size_t>(rows))) {
    plans.push_back(front[index]);
  }
  return plans;
}

Result<PlanQuestion> plan_question(const PredictInputs& inputs, const PlanRequest& request) {
  for (const Status& found : {check_offers(inputs.catalog, request.constraints),
                              check_vm(inputs.catalog, request), check_measured(inputs.job)}) {
    if (!found.ok()) return found.error();
  }
  auto work = work_to_goal(inputs.job);
  if (!work.ok()) return work.error();
  auto spot = load_spot_prior();
  if (!spot.ok()) return spot.error();
  const auto prices = load_price_law();
  if (!prices.ok()) return prices.error();
  const bool emulated = inputs.provider == kLocalProvider;
  const StartupTimes& times = startup_times();
  PlanQuestion question{
      .context = inputs.context(),
      .work = std::move(*work),
      .constraints = request.constraints,
      .objective = objective_of(request),
      .rows = request.rows,
      .disabled_passes = request.disabled_passes,
      .outlook = {.spot = std::move(*spot),
                  .on_demand_start_up = emulated ? times.plan_cluster : times.vm_on_demand,
                  .spot_start_up = emulated ? times.plan_cluster : times.vm_spot,
                  .regroup = emulated ? times.terms_regroup : times.restart,
                  .host_copy = host_copy()}};
  if (inputs.today) question.outlook.prices = PriceOutlook{.law = *prices, .today = *inputs.today};
  return question;
}

Result<PlanOutcome> plan_job(const Environment& environment, const PlanRequest& request,
                             const Optimiser& optimiser) {
  CHECK(environment.clock != nullptr);
  const auto policy = policy_of(request);
  if (!policy.ok()) return policy.error();
  if (request.rows < 1) return bad_usage("--rows must be 1 or more");
  const Status sane = check_limits(request.constraints);
  if (!sane.ok()) return sane.error();
  auto inputs = load_predict_inputs(environment, request.job, request.calibration,
                                    only_provider(request.constraints));
  if (!inputs.ok()) return inputs.error();
  const Status overridden = apply_overrides(request.overrides, inputs->job);
  if (!overridden.ok()) return overridden.error();
  const auto question = plan_question(*inputs, request);
  if (!question.ok()) return question.error();
  const auto compared = compared_clusters(inputs->catalog, request);
  if (!compared.ok()) return compared.error();
  PlanOutcome outcome{.answer = {}, .warnings = std::move(inputs->warnings)};
  const Status planned =
      answer_question(*question, *policy, optimiser, *environment.clock, outcome);
  if (!planned.ok()) return planned.error();
  PlanAnswer& answer = outcome.answer;
  CHECK(!answer.plans.empty() || answer.nearest);
  if (!*policy) arrange(answer, question->objective, request.rows);
  for (const Cluster& cluster : *compared) compare(*question, cluster, answer);
  answer.command = request.command.empty() ? inputs->job.command : request.command;
  const Status sound = check_answer(validate(answer));
  if (!sound.ok()) return sound.error();
  const Status kept = keep(environment, request, inputs->job, outcome);
  if (!kept.ok()) return kept.error();
  return outcome;
}

}  // namespace stint
