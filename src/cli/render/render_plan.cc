#include "cli/render/render_plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/csv.h"
#include "base/date.h"
#include "base/normal.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/checkpoint_text.h"
#include "cli/render/figures.h"
#include "cli/render/render_compared.h"
#include "cli/render/render_front.h"
#include "cli/render/render_layouts.h"

namespace stint::cli {
namespace {

bool decides(const PlanAnswer& answer, std::string_view objective) {
  return answer.goal && answer.goal->objective == objective;
}

/// Lines of a sheet of which only the first has the label.
std::string block(std::string_view label, const std::vector<std::string>& lines,
                  const Terminal& terminal) {
  std::string text;
  for (const std::string& line : lines) {
    text += sheet_line(text.empty() ? label : "", line, terminal);
  }
  return text;
}

// Times that are as close as this count as equal, and the cheaper plan goes first.
constexpr double kGapOfEqualTimes = 1e-3;

bool weighs_risk(const PlanAnswer& answer) { return answer.goal && answer.goal->miss_charge; }

bool is_front(const PlanAnswer& answer) {
  return decides(answer, "front") || decides(answer, "knee");
}

std::vector<std::string> bound_lines(const PlanAnswer& answer) {
  std::vector<std::string> lines;
  // Of a front the first row is only one end.
  if (is_front(answer)) {
    if (answer.gap && *answer.gap <= 0) {
      lines.emplace_back(
          "No plan of the model is both cheaper and faster than a plan of the front (gap 0 %).");
    }
    return lines;
  }
  const Plan& best = answer.plans.front();
  const bool by_time = decides(answer, "time");
  if (answer.gap && *answer.gap <= 0) {
    lines.push_back(fmt::format("No other plan of the model {} (gap 0 %).",
                                by_time               ? "is faster"
                                : weighs_risk(answer) ? "is as likely to be in time and costs less"
                                                      : "costs less"));
  } else if (by_time && answer.gap && *answer.gap <= kGapOfEqualTimes) {
    lines.emplace_back("No other plan of the model is faster by more than 0.1 %.");
  } else if (answer.gap && by_time && answer.time_bound) {
    lines.push_back(
        fmt::format("No plan of the model takes less than {}: plan 1 is at most {} "
                    "above the fastest.",
                    hours(*answer.time_bound), percent(*answer.gap)));
  } else if (answer.gap && answer.bound) {
    lines.push_back(
        fmt::format("No plan of the model costs less than {}: plan 1 is at most {} "
                    "above the cheapest.",
                    dollars(*answer.bound), percent(*answer.gap)));
  }
  if (answer.relaxed_bound && !by_time) {
    const Dollars saved = best.cost.mean - *answer.relaxed_bound;
    lines.push_back(saved < 0.5 * kCent
                        ? "A mix of more than two types saves nothing."
                        : fmt::format("A mix of more than two types could save at most {} ({}).",
                                      dollars(saved), percent(saved / best.cost.mean)));
  }
  return lines;
}

/// Biggest first.
std::vector<std::string> excluded_lines(const PlanAnswer& answer) {
  std::vector<std::pair<std::string, std::int64_t>> reasons(answer.excluded.begin(),
                                                            answer.excluded.end());
  std::erase_if(reasons, [](const auto& reason) { return reason.second == 0; });
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> lines;
  for (const auto& reason : reasons) {
    lines.push_back(fmt::format("{}: {}", reason.first, reason.second));
  }
  return lines;
}

/// How far the prices of the first plan may be off, and what that means for its cost.
std::string price_doubt_text(const Plan& plan) {
  if (!plan.prices) return "";
  return fmt::format(
      " Plan 1 pays prices up to {} days old: with 80 % probability within a factor of {:.2f}, "
      "{} of the variance of its cost.",
      plan.prices->oldest_days, std::exp(normal_quantile(0.9) * plan.prices->deviation),
      percent(plan.prices->share));
}

/// The oldest price in the plans, and where it stands.
std::string prices_text(const std::vector<Plan>& plans) {
  const PriceUsed* oldest = nullptr;
  for (const Plan& plan : plans) {
    if (!plan.prediction || !plan.prediction->price) continue;
    const PriceUsed& price = *plan.prediction->price;
    if (oldest == nullptr || price.date < oldest->date) oldest = &price;
  }
  if (oldest == nullptr) return "";
  return fmt::format("The oldest price is from {} ({}).", to_text(oldest->date), oldest->region) +
         price_doubt_text(plans.front());
}

std::string count_text(const std::optional<std::int64_t>& count) {
  return count ? std::to_string(*count) : "";
}

std::string pass_table(const std::vector<PassReport>& passes, const Terminal& terminal) {
  Table table({{.title = "pass", .importance = 9},
               {.title = "implied", .align = Align::kRight, .importance = 6},
               {.title = "evaluated", .align = Align::kRight, .importance = 7},
               {.title = "kept", .align = Align::kRight, .importance = 8},
               {.title = "time", .align = Align::kRight, .importance = 5}});
  for (const PassReport& pass : passes) {
    table.add({pass.name, count_text(pass.implied), count_text(pass.evaluated),
               std::to_string(pass.kept), milliseconds(pass.time)});
  }
  return "\n" + table.text(terminal, "-o json");
}

std::string assumptions_text(const PlanAnswer& answer, bool verbose, const Terminal& terminal) {
  constexpr std::size_t kFew = 2;
  std::vector<std::string> lines = answer.assumptions;
  if (!verbose && lines.size() > kFew + 1) {
    const std::size_t more = lines.size() - kFew;
    lines.resize(kFew);
    lines.push_back(fmt::format("… and {} more; --verbose shows all.", more));
  }
  return block("assumed", lines, terminal);
}

/// What stands below the table, whether a plan was found or not.
std::string background(const PlanAnswer& answer, const std::vector<Plan>& plans, bool verbose,
                       const Terminal& terminal) {
  std::string text = block("excluded", excluded_lines(answer), terminal);
  const std::string prices = prices_text(plans);
  if (!prices.empty()) text += sheet_line("prices", prices, terminal);
  text += assumptions_text(answer, verbose, terminal);
  if (verbose && !answer.passes.empty()) text += pass_table(answer.passes, terminal);
  return text;
}

/// What more certainty about the deadline would cost, where plan 1 is less certain than usual.
std::string safer_text(const PlanAnswer& answer, const Terminal& terminal) {
  const Plan& first = answer.plans.front();
  const PlanGoal& goal = *answer.goal;
  if (!first.p_deadline || *first.p_deadline >= goal.confidence) return "";
  if (!answer.safer) {
    return sheet_line("safer",
                      fmt::format("No plan is in time with {} or more.", percent(goal.confidence)),
                      terminal);
  }
  const Plan& safer = *answer.safer;
  return sheet_line(
      "safer",
      fmt::format("{} is in time with {}, for {} ({} more); --confidence {:.4g}% demands "
                  "that.",
                  to_text(safer.cluster), percent(safer.p_deadline), dollars(safer.cost.mean),
                  dollars(safer.cost.mean - first.cost.mean), 100 * goal.confidence),
      terminal);
}

constexpr double kLikely = 0.5;  // From here on the first plan is more likely the best than not.

std::string certainty(const PlanAnswer& answer, const Terminal& terminal) {
  std::string text;
  if (answer.plans.front().p_best && !is_front(answer)) {
    const double p_best = *answer.plans.front().p_best;
    text += sheet_line(
        "P(best)",
        percent(p_best) + (p_best < kLikely ? ": several plans are within their intervals." : "."),
        terminal);
  }
  if (weighs_risk(answer)) text += safer_text(answer, terminal);
  text += block("bound", bound_lines(answer), terminal);
  text += sharding_text(answer.plans.front(), terminal);
  text += block("checkpoints", checkpoint_lines(answer.plans.front()), terminal);
  if (answer.value_of_measuring) {
    text += sheet_line("measuring",
                       fmt::format("Measurements before renting are worth up to {}.",
                                   dollars(*answer.value_of_measuring)),
                       terminal);
  }
  return text;
}

std::string comparison(const Plan& theirs, const Plan& ours, const std::string& policy,
                       const Terminal& terminal) {
  const Dollars saved = theirs.cost.mean - ours.cost.mean;
  const Seconds faster = theirs.time.mean - ours.time.mean;
  return sheet_line(
      "Stint's plan",
      fmt::format("{} costs {}, {} {} than {}, and takes {}, {} {}.", to_text(ours.cluster),
                  dollars(ours.cost.mean), dollars(saved < Dollars{} ? -saved : saved),
                  saved < Dollars{} ? "more" : "less", policy, hours(ours.time.mean),
                  hours(faster < Seconds{} ? -faster : faster),
                  faster < Seconds{} ? "longer" : "shorter"),
      terminal);
}

/// The constraint that the nearest plan breaks, by how much, and what to ask for instead.
std::string way_out(const PlanAnswer& answer, const Terminal& terminal) {
  const NearestPlan& nearest = *answer.nearest;
  const PlanGoal goal = answer.goal.value_or(PlanGoal{});
  std::vector<std::string> misses;
  std::vector<std::string> changes;
  const std::string sure = fmt::format("with {} confidence", percent(goal.confidence));
  if (nearest.late) {
    misses.push_back(
        fmt::format("The plan misses the deadline by {}, {}.", hours(*nearest.late), sure));
    if (goal.deadline) {
      changes.push_back(
          fmt::format("--deadline {}", deadline_flag(*goal.deadline + *nearest.late)));
    }
  }
  if (nearest.dearer) {
    misses.push_back(
        fmt::format("The plan exceeds the budget by {}, {}.", dollars(*nearest.dearer), sure));
    if (goal.budget) {
      const Dollars enough = *goal.budget + *nearest.dearer;
      changes.push_back(fmt::format("--budget {:.0f}usd", std::ceil(enough.in(kDollar))));
    }
  }
  std::string text = block("misses", misses, terminal);
  if (changes.empty()) return text;
  return text + sheet_line("feasible with", join(changes, " "), terminal);
}

}  // namespace

std::string deadline_flag(Seconds deadline) {
  if (deadline > 10 * kHour) return fmt::format("{:.0f}h", std::ceil(deadline.in(kHour)));
  return fmt::format("{:.0f}min", std::ceil(deadline.in(kMinute)));
}

std::string goal_text(const PlanGoal& goal) {
  std::string text = goal.objective == "cost"   ? "the cheapest plans"
                     : goal.objective == "time" ? "the fastest plans"
                     : goal.objective == "knee" ? "the best trade-off of cost and time"
                                                : "the trade-off of cost and time";
  if (goal.policy) text = fmt::format("the plan of {}", *goal.policy);
  if (goal.deadline) text += fmt::format(", within {}", hours(*goal.deadline));
  if (goal.budget) text += fmt::format(", for at most {}", dollars(*goal.budget));
  if (goal.rate_max) text += fmt::format(", at most {}/h", dollars(*goal.rate_max * kHour));
  if (goal.miss_charge) text += ", weighing the risk of a miss";
  if ((goal.deadline && !goal.miss_charge) || goal.budget) {
    text += fmt::format(", with {} confidence", percent(goal.confidence));
  }
  return text;
}

std::string plan_csv(const std::vector<Plan>& plans) {
  const auto number = [](const auto& value) { return value ? fmt::format("{}", *value) : ""; };
  const auto seconds = [](Seconds time) { return fmt::format("{}", time.in(kSecond)); };
  const auto amount = [](Dollars cost) { return fmt::format("{}", cost.in(kDollar)); };
  std::string text = csv_line(
      {"plan",       "cluster",    "market",     "global_batch",   "accumulation", "iterations",
       "time_s",     "time_p10_s", "time_p90_s", "cost_usd",       "cost_p10_usd", "cost_p90_usd",
       "p_deadline", "p_budget",   "p_best",     "region",         "price_date",   "price_share",
       "note",       "gpus",       "usd_per_h",  "parallel_layout"});
  for (std::size_t row = 0; row < plans.size(); ++row) {
    const Plan& plan = plans[row];
    const bool priced = plan.prediction && plan.prediction->price;
    text += csv_line({std::to_string(row + 1),
                      to_text(plan.cluster),
                      market_text(plan),
                      number(plan.global_batch),
                      plan.layout ? std::to_string(plan.layout->accumulation) : "",
                      number(plan.iterations),
                      seconds(plan.time.mean),
                      seconds(plan.time.p10),
                      seconds(plan.time.p90),
                      amount(plan.cost.mean),
                      amount(plan.cost.p10),
                      amount(plan.cost.p90),
                      number(plan.p_deadline),
                      number(plan.p_budget),
                      number(plan.p_best),
                      region_text(plan),
                      priced ? to_text(plan.prediction->price->date) : "",
                      plan.prices ? fmt::format("{}", plan.prices->share) : "",
                      plan.note.value_or(""),
                      gpus_text(plan),
                      fmt::format("{}", expected_rate(plan).in(kDollar / kHour)),
                      plan.parallel_layout.value_or("")});
  }
  return text;
}

std::string plan_sheet(const PlanOutcome& outcome, bool verbose, const Terminal& terminal) {
  const PlanAnswer& answer = outcome.answer;
  const std::string asked = fmt::format("{}: {}", without_controls(answer.job.value_or("the job")),
                                        goal_text(answer.goal.value_or(PlanGoal{})));
  std::string text = wrapped(asked, terminal.width, 2) + "\n\n";
  if (answer.plans.empty()) {
    const std::vector<Plan> nearest = {answer.nearest->plan};
    return text + sheet_line("no plan", answer.nearest->binding, terminal) +
           "\nThe nearest plan:\n\n" + plan_table(nearest, terminal) + "\n" +
           sharding_text(nearest.front(), terminal) + compared_sheet(answer, terminal) +
           way_out(answer, terminal) + background(answer, nearest, verbose, terminal);
  }
  text += plan_table(answer.plans, terminal) + "\n";
  if (!answer.compared.empty()) text += compared_sheet(answer, terminal) + "\n";
  if (is_front(answer)) {
    const std::string picture = front_picture(answer.front, terminal);
    if (!picture.empty()) text += picture + "\n";
  }
  text += certainty(answer, terminal) + background(answer, answer.plans, verbose, terminal);
  if (!outcome.ours || !answer.goal || !answer.goal->policy) return text;
  return text + comparison(answer.plans.front(), *outcome.ours, *answer.goal->policy, terminal);
}

}  // namespace stint::cli
