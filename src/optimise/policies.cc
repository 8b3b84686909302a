#include "optimise/policies.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "optimise/answer.h"
#include "optimise/deepvm_policy.h"
#include "optimise/homogeneous.h"
#include "optimise/nearest.h"

namespace stint {
namespace {

std::string name_of(Policy policy) {
  for (const auto& [value, name] : names_of(policy)) {
    if (value == policy) return name;
  }
  CHECK(false);
  return "";
}

int vms_of(const Found& found) { return found.config.parts[0].vms; }

const Rental& rental_at(const Evaluator& evaluator, int index) {
  return evaluator.space().rentals[static_cast<std::size_t>(index)];
}

/// The runs of the batch on 1, 2, … `vms_max` VMs, as far as the job can run on them.
std::vector<Found> runs_on(const Evaluator& evaluator, int rental, int choice, int vms_max) {
  std::vector<Found> runs;
  for (int vms = 1; vms <= std::min(vms_max, rental_at(evaluator, rental).vms_max); ++vms) {
    const Config config{.parts = {Part{.rental = rental, .vms = vms}}, .choice = choice};
    if (const auto run = plain_run(evaluator, config)) runs.push_back(*run);
  }
  return runs;
}

/// All sizes of the one type that comes first by price or by the speed of one VM.
std::vector<Found> runs_of_first(const Evaluator& evaluator, Policy policy) {
  const int choice = reference_choice(evaluator.question());
  struct Ranked {
    std::pair<double, double> rank;
    int rental;
  };
  std::vector<Ranked> all;
  for (const int rental : undominated(evaluator.space())) {
    const auto alone = runs_on(evaluator, rental, choice, 1);
    const double price = rental_at(evaluator, rental).price.in(kDollar / kHour);
    const double time = alone.empty() ? std::numeric_limits<double>::infinity()
                                      : alone[0].outcome.iteration.in(kSecond);
    const bool by_price = policy == Policy::kCheapestFirst;
    all.push_back({by_price ? std::pair(price, time) : std::pair(time, price), rental});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  for (const Ranked& ranked : all) {
    auto runs = runs_on(evaluator, ranked.rental, choice, std::numeric_limits<int>::max());
    if (!runs.empty()) return runs;
  }
  return {};
}

std::vector<Found> runs_on_demand(const Evaluator& evaluator) {
  const int choice = reference_choice(evaluator.question());
  std::vector<Found> runs;
  for (const int rental : undominated(evaluator.space())) {
    if (rental_at(evaluator, rental).market != Market::kOnDemand) continue;
    for (const Found& run : runs_on(evaluator, rental, choice, 1)) runs.push_back(run);
  }
  return runs;
}

/// All sizes and batches of the VM type called `vm`, on its cheapest market.
Result<std::vector<Found>> runs_of_type(const Evaluator& evaluator, const std::string& vm) {
  const auto name = parse_vm_name(vm);
  if (!name.ok()) return bad_usage("--vm: " + name.error().message);
  const auto type = find_type(evaluator.question().context.catalog, *name);
  if (!type.ok()) return bad_usage("--vm: " + type.error().message);
  std::optional<int> cheapest;
  for (int i = 0; i < static_cast<int>(evaluator.space().rentals.size()); ++i) {
    const Rental& rental = rental_at(evaluator, i);
    const bool elsewhere = name->region && to_lower(*name->region) != to_lower(rental.region);
    if (evaluator.space().machine_of(i).type != *type || elsewhere) continue;
    if (!cheapest || rental.price < rental_at(evaluator, *cheapest).price) cheapest = i;
  }
  std::vector<Found> runs;
  if (!cheapest) return runs;
  for (std::size_t choice = 0; choice < evaluator.question().work.choices.size(); ++choice) {
    for (const Found& run :
         runs_on(evaluator, *cheapest, static_cast<int>(choice), std::numeric_limits<int>::max())) {
      runs.push_back(run);
    }
  }
  return runs;
}

/// What the policy chooses from when limits on the whole training do not count.
Result<std::vector<Found>> runs_of(const Evaluator& evaluator, const PolicyRequest& request) {
  switch (request.policy) {
    case Policy::kCheapestFirst:
    case Policy::kFastestFirst:
      return runs_of_first(evaluator, request.policy);
    case Policy::kSingleOnDemand:
      return runs_on_demand(evaluator);
    case Policy::kScavenger:
      return runs_of_type(evaluator, *request.vm);
    case Policy::kDeepVm:
      break;  // It chooses by a score, not from runs.
  }
  CHECK(false);
  return std::vector<Found>{};
}

/// Requires some runs.
Found cheapest_in_time(const std::vector<Found>& runs, std::optional<Seconds> deadline) {
  const auto rank = [&](const Found& run) {
    const bool late = deadline && run.outcome.time > *deadline;
    const double time = run.outcome.time.in(kSecond);
    const double cost = run.outcome.cost.in(kDollar);
    return std::tuple(late, late ? time : cost, late ? cost : time);
  };
  return *std::min_element(runs.begin(), runs.end(),
                           [&](const Found& a, const Found& b) { return rank(a) < rank(b); });
}

/// Requires some runs, all within the limits.
Found by_trade_off(const std::vector<Found>& runs, const PlanQuestion& question) {
  Front front;
  for (const Found& run : runs) {
    if (front.wants(run.outcome.time, run.outcome.cost)) front.add(run);
  }
  const bool limited = question.constraints.deadline || question.constraints.budget;
  if (limited && question.objective == Objective::kTime) return front.points().front();
  if (limited && question.objective == Objective::kCost) return front.points().back();
  return front.points()[*knee(front.points())];
}

std::optional<Found> chosen(const std::vector<Found>& runs, const PlanQuestion& question,
                            Policy policy) {
  const Constraints& limits = question.constraints;
  const bool in_time = policy == Policy::kScavenger;
  std::vector<Found> kept;
  for (const Found& run : runs) {
    if (limits.budget && run.outcome.cost > *limits.budget) continue;
    if (in_time && limits.deadline && run.outcome.time > *limits.deadline) continue;
    kept.push_back(run);
  }
  if (kept.empty()) return std::nullopt;
  if (policy == Policy::kSingleOnDemand) return cheapest_in_time(kept, limits.deadline);
  if (policy == Policy::kScavenger) return by_trade_off(kept, question);
  return *std::max_element(kept.begin(), kept.end(),
                           [](const Found& a, const Found& b) { return vms_of(a) < vms_of(b); });
}

std::optional<Found> smallest(const std::vector<Found>& runs) {
  const auto least = std::min_element(runs.begin(), runs.end(), [](const Found& a, const Found& b) {
    return std::pair(vms_of(a), a.outcome.cost) < std::pair(vms_of(b), b.outcome.cost);
  });
  return least == runs.end() ? std::nullopt : std::optional(*least);
}

/// What was found, and how many runs were looked at.
struct Choice {
  std::optional<Plan> plan;
  std::optional<std::int64_t> evaluated;  // Not of DeepVM, which predicts only to fit.
  std::vector<std::string> assumptions;
};

Result<Choice> deepvm(const Evaluator& evaluator, bool limited) {
  const Constraints& given = evaluator.question().constraints;
  DeepVmLimits limits{.vms_max = 1};
  if (limited) limits = {given.vms_max, given.rate_max, given.quotas};
  const auto pick = deepvm_pick(evaluator, limits);
  if (!pick.ok()) return pick.error();
  Choice choice;
  if (!*pick) return choice;
  choice.plan = plan_of(evaluator, **pick);
  if ((*pick)->fitted) {
    choice.assumptions.emplace_back(
        "The catalogue has no figures measured by DeepVM's authors: scaling is fitted to Stint's "
        "predictions, and speeds are data-sheet peaks.");
  }
  return choice;
}

/// The policy's choice or, without limits, the smallest cluster that it would rent.
Result<Choice> choice_of(const Evaluator& evaluator, const PolicyRequest& request, bool limited) {
  if (request.policy == Policy::kDeepVm) return deepvm(evaluator, limited);
  const auto runs = runs_of(evaluator, request);
  if (!runs.ok()) return runs.error();
  const auto found =
      limited ? chosen(*runs, evaluator.question(), request.policy) : smallest(*runs);
  Choice choice{.evaluated = static_cast<std::int64_t>(runs->size())};
  if (found) choice.plan = plan_of(evaluator, *found);
  return choice;
}

/// The limits that the smallest cluster breaks, or that can be kept only one by one.
std::string binding_of(const PlanQuestion& question, Policy policy, const Plan& plan) {
  const Constraints& limits = question.constraints;
  // Scavenger may find a cluster for each limit, but none for both.
  const bool any = policy == Policy::kScavenger;
  std::vector<std::string> broken;
  if (any && limits.deadline) {
    broken.push_back(fmt::format("the deadline of {}", to_text(*limits.deadline)));
  }
  if (limits.budget && (any || plan.cost.mean > *limits.budget)) {
    broken.push_back(fmt::format("the budget of {:.2f} USD", limits.budget->in(kDollar)));
  }
  if (limits.rate_max && plan.cost.mean / plan.time.mean > *limits.rate_max) {
    broken.push_back(fmt::format("{:.4g} USD/h", limits.rate_max->in(kDollar / kHour)));
  }
  if (broken.empty()) {
    for (const Quota& quota : limits.quotas) {
      broken.push_back(fmt::format("the quota {}", to_text(quota)));
    }
  }
  return fmt::format("The policy {} finds no plan within {}.", name_of(policy),
                     fmt::join(broken, " and "));
}

/// What the policy can choose from where neither quotas nor hourly prices count.
Result<Space> space_without_limits(const PlanQuestion& question) {
  PlanQuestion eased = question;
  eased.constraints.quotas.clear();
  eased.constraints.rate_max.reset();
  return plan_space(eased);
}

Error nothing_to_rent(const PlanQuestion& question, const PolicyRequest& request) {
  if (request.policy == Policy::kScavenger) {
    return bad_usage(
        fmt::format("--vm: the job {} cannot run on {}, or the VM has no price within the limits",
                    question.context.job.name, printable(*request.vm)));
  }
  return {ErrorKind::kInfeasible,
          fmt::format("the policy {} can rent no VM type on which the job {} runs",
                      question.context.job.name, name_of(request.policy))};
}

}  // namespace

int reference_choice(const PlanQuestion& question) {
  const auto& choices = question.work.choices;
  CHECK(!choices.empty());
  const auto& batch = question.context.job.batch;
  const int reference = batch ? batch->reference : choices.front().global_batch;
  const auto nearest = std::min_element(
      choices.begin(), choices.end(), [&](const BatchChoice& a, const BatchChoice& b) {
        return std::abs(a.global_batch - reference) < std::abs(b.global_batch - reference);
      });
  return static_cast<int>(nearest - choices.begin());
}

std::optional<Found> plain_run(const Evaluator& evaluator, Config config) {
  const Machine& machine = evaluator.space().machine_of(config.parts[0].rental);
  for (const Part& part : config.used()) {
    CHECK(&evaluator.space().machine_of(part.rental) == &machine);
  }
  for (auto workers = machine.worker_choices.rbegin(); workers != machine.worker_choices.rend();
       ++workers) {
    for (Part& part : config.parts) part.workers_per_vm = *workers;
    for (const int accumulation : evaluator.accumulations(config.choice)) {
      config.accumulation = accumulation;
      if (const auto found = evaluator.with_cheapest_save(config)) return found;
    }
  }
  return std::nullopt;
}

std::span<const EnumName<Policy>> names_of(Policy /*type*/) {
  static constexpr EnumName<Policy> kNames[] = {{Policy::kCheapestFirst, "cheapest-first"},
                                                {Policy::kFastestFirst, "fastest-first"},
                                                {Policy::kDeepVm, "deepvm"},
                                                {Policy::kScavenger, "scavenger"},
                                                {Policy::kSingleOnDemand, "single-on-demand"}};
  return kNames;
}

Result<PlanAnswer> plan_by_policy(const PlanQuestion& question, const PolicyRequest& request,
                                  const Clock& clock) {
  const Seconds start = clock.now();
  if (request.policy == Policy::kScavenger && !request.vm) {
    return bad_usage("--policy scavenger needs a VM type; add for example --vm g4dn.xlarge");
  }
  const auto space = plan_space(question);
  if (!space.ok()) return space.error();
  const Evaluator evaluator(question, *space);
  auto choice = choice_of(evaluator, request, true);
  if (!choice.ok()) return choice.error();

  PlanAnswer answer{
      .job = question.context.job.name, .goal = goal_of(question), .excluded = space->excluded};
  answer.goal->policy = name_of(request.policy);
  answer.goal->miss_charge.reset();  // It has a rule of its own.
  PassReport report{.name = name_of(request.policy), .evaluated = choice->evaluated};
  if (choice->plan) {
    answer.plans.push_back(std::move(*choice->plan));
  } else {
    const auto eased_space = space_without_limits(question);
    if (!eased_space.ok()) return eased_space.error();
    auto eased = choice_of(Evaluator(question, *eased_space), request, false);
    if (!eased.ok()) return eased.error();
    if (!eased->plan) return nothing_to_rent(question, request);
    answer.nearest = NearestPlan{.binding = binding_of(question, request.policy, *eased->plan),
                                 .plan = std::move(*eased->plan)};
    state_misses(question.constraints, *answer.nearest);
    choice->assumptions = std::move(eased->assumptions);
  }
  answer.assumptions =
      assumptions_of(evaluator, answer.nearest ? std::vector{answer.nearest->plan} : answer.plans);
  for (std::string& text : choice->assumptions) answer.assumptions.push_back(std::move(text));
  report.kept = static_cast<std::int64_t>(answer.plans.size());
  report.time = std::max(Seconds{}, clock.now() - start);
  answer.passes.push_back(std::move(report));
  return answer;
}

}  // namespace stint
