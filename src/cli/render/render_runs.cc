#include "cli/render/render_runs.h"

#include <fmt/format.h>
#include <optional>
#include <utility>
#include <vector>

#include "base/table.h"
#include "base/unit_text.h"
#include "cli/render/figures.h"
#include "cli/render/render_risk.h"
#include "cli/views/simulation_views.h"

namespace stint::cli {
namespace {

constexpr int kRunsMax = 1'000'000;

struct BillPart {
  const char* name;
  Dollars Bill::*field;
};

constexpr BillPart kBillParts[] = {
    {"compute", &Bill::compute},         {"exposed communication", &Bill::exposed_communication},
    {"work redone", &Bill::work_redone}, {"saving", &Bill::saving},
    {"set-up", &Bill::set_up},           {"idle", &Bill::idle},
    {"anchors", &Bill::anchors},         {"storage", &Bill::storage}};

std::string few(double number) { return fmt::format("{:.2f}", number); }

PlannedView view_of(const Plan& plan) {
  return {.time = {plan.time},
          .cost = {plan.cost},
          .bill = plan.bill ? std::optional(BillView{*plan.bill}) : std::nullopt,
          .p_deadline = plan.p_deadline,
          .p_budget = plan.p_budget};
}

SimulatedView view_of(const RunSummary& it) {
  return {.runs = it.runs,
          .time = it.time,
          .cost = it.cost,
          .bill = {it.bill},
          .losses = it.losses,
          .machines_lost = it.machines_lost,
          .finished = it.finished,
          .p_deadline = it.p_deadline,
          .p_budget = it.p_budget};
}

LimitsView view_of(const PlanGoal& goal, std::optional<int> vms_max) {
  return {.deadline = goal.deadline,
          .budget = goal.budget,
          .rate_max = goal.rate_max,
          .confidence = goal.confidence,
          .vms_max = vms_max};
}

std::string limits_text(const RevocationsReport& report) {
  const PlanGoal& goal = report.goal;
  std::string text =
      fmt::format("at most {}/h and {} VMs", dollars(*goal.rate_max * kHour), report.vms_max);
  if (goal.deadline) text += fmt::format(", within {}", hours(*goal.deadline));
  if (goal.budget) text += fmt::format(", for {}", dollars(*goal.budget));
  return fmt::format("{} with {} confidence", text, percent(goal.confidence));
}

}  // namespace

std::vector<OptionSpec> simulation_options() {
  return {{.name = "--calibration",
           .value = "NAME|FILE",
           .help = "Network calibration (default: the shipped one)."},
          {.name = "--runs", .value = "N", .help = "Runs to simulate (default: 1000)."},
          {.name = "--seed", .value = "N", .help = "Seed of the simulation (default: 1)."},
          {.name = "--as-predicted",
           .help = "Let iterations take their predicted time, instead of a draw from the plan's "
                   "interval per run."}};
}

Result<SimulateOptions> simulation_of(const Invocation& invocation) {
  SimulateOptions options{.prediction_error = !invocation.has("--as-predicted")};
  const auto runs = count_of(invocation, "--runs", kRunsMax);
  if (!runs.ok()) return runs.error();
  options.runs = runs->value_or(options.runs);
  const auto seed = count_of(invocation, "--seed", kIntMax);
  if (!seed.ok()) return seed.error();
  options.seed = static_cast<std::uint64_t>(seed->value_or(1));
  return options;
}

std::string simulation_text(const SimulateReport& report, const Terminal& terminal) {
  const RunSummary& it = report.runs;
  const Plan& plan = report.plan;
  Table table({{.title = "", .importance = 9},
               right("planned", 8),
               right("simulated", 9),
               right("p10", 6),
               right("median", 5),
               right("p90", 7)});
  table.add({"time", hours(plan.time.mean), hours(it.time.mean), hours(it.time.p10),
             hours(it.time.p50), hours(it.time.p90)});
  table.add({"cost", dollars(plan.cost.mean), dollars(it.cost.mean), dollars(it.cost.p10),
             dollars(it.cost.p50), dollars(it.cost.p90)});
  if (it.p_deadline) {
    table.add({"in time", percent(plan.p_deadline), percent(*it.p_deadline), "", "", ""});
  }
  if (it.p_budget) {
    table.add({"in budget", percent(plan.p_budget), percent(*it.p_budget), "", "", ""});
  }
  if (it.finished < 1) table.add({"finished", "", percent(it.finished), "", "", ""});
  table.add({"stops", "", few(it.losses), "", "", ""});
  table.add({"machines lost", "", few(it.machines_lost), "", "", ""});
  for (const BillPart& part : kBillParts) {
    const std::string planned = plan.bill ? dollars((*plan.bill).*part.field) : "";
    table.add({part.name, planned, dollars(it.bill.*part.field), "", "", ""});
  }
  return fmt::format("{} on {} in {}, {} runs\n\n{}", report.job, to_text(plan.cluster),
                     report.region, it.runs, table.text(terminal, "-o json"));
}

Json simulation_json(const SimulateReport& report) {
  return encoded(SimulationView{.job = report.job,
                                .cluster = to_text(report.plan.cluster),
                                .region = report.region,
                                .trace = report.trace,
                                .limits = view_of(report.goal, std::nullopt),
                                .planned = view_of(report.plan),
                                .simulated = view_of(report.runs)});
}

std::string revocations_text(const RevocationsReport& report, const Terminal& terminal) {
  std::vector<Column> columns{{.title = "policy", .importance = 9},
                              {.title = "cluster", .importance = 6},
                              right("planned", 4),
                              right("cost (80 %)", 9),
                              right("time (80 %)", 8)};
  if (report.goal.deadline) columns.push_back(right("in time", 7));
  if (report.goal.budget) columns.push_back(right("in budget", 7));
  columns.push_back(right("losses", 5));
  Table table(std::move(columns));
  for (const RevocationsRow& row : report.rows) {
    const RunSummary& it = row.runs;
    const CostRange cost{it.cost.mean, it.cost.p10, it.cost.p90};
    const TimeRange time{it.time.mean, it.time.p10, it.time.p90};
    std::vector<std::string> cells{row.policy, to_text(row.plan.cluster),
                                   dollars(row.plan.cost.mean), with_interval(cost),
                                   with_interval(time)};
    if (report.goal.deadline) cells.push_back(percent(it.p_deadline));
    if (report.goal.budget) cells.push_back(percent(it.p_budget));
    cells.push_back(few(it.losses));
    table.add(std::move(cells));
  }
  return fmt::format(
      "{}: {} runs of each plan; {}\n\n{}\nDeepVM's runs cost {:.3g} times as much as Stint's; by "
      "the median {:.3g} times.\n",
      report.job, report.options.runs, limits_text(report), table.text(terminal, "-o json"),
      report.deepvm_over_stint, report.deepvm_over_stint_median);
}

Json revocations_json(const RevocationsReport& report) {
  RevocationsView view{.job = report.job,
                       .seed = static_cast<int>(report.options.seed),
                       .prediction_error = report.options.prediction_error,
                       .limits = view_of(report.goal, report.vms_max),
                       .policies = {},
                       .deepvm_over_stint = report.deepvm_over_stint,
                       .deepvm_over_stint_median = report.deepvm_over_stint_median};
  for (const RevocationsRow& row : report.rows) {
    view.policies.push_back({.policy = row.policy,
                             .cluster = to_text(row.plan.cluster),
                             .region = row.region,
                             .keeps_limits = !row.binding,
                             .binding = row.binding,
                             .planned = view_of(row.plan),
                             .simulated = view_of(row.runs)});
  }
  return encoded(view);
}

}  // namespace stint::cli
