#include "cli/render/render_runs.h"

#include <fmt/format.h>
#include <utility>
#include <vector>

#include "base/table.h"
#include "base/unit_text.h"
#include "cli/render/figures.h"
#include "cli/render/render_risk.h"
#include "plan/validation.h"

namespace stint::cli {
namespace {

constexpr int kRunsMax = 1'000'000;

struct BillPart {
  const char* name;
  const char* key;
  Dollars Bill::*field;
};

constexpr BillPart kBillParts[] = {
    {"compute", "compute_usd", &Bill::compute},
    {"exposed communication", "exposed_communication_usd", &Bill::exposed_communication},
    {"work redone", "work_redone_usd", &Bill::work_redone},
    {"saving", "saving_usd", &Bill::saving},
    {"set-up", "set_up_usd", &Bill::set_up},
    {"idle", "idle_usd", &Bill::idle},
    {"anchors", "anchors_usd", &Bill::anchors},
    {"storage", "storage_usd", &Bill::storage}};

std::string share_text(const std::optional<double>& share) { return share ? percent(*share) : ""; }

std::string few(double number) { return fmt::format("{:.2f}", number); }

template <class Quantity>
Json spread_json(const RunSpread<Quantity>& spread, Quantity unit, const char* suffix) {
  Json json;
  const auto add = [&](const char* name, Quantity value) {
    json.add(fmt::format("{}_{}", name, suffix), Json(value.in(unit)));
  };
  add("mean", spread.mean);
  add("p10", spread.p10);
  add("p50", spread.p50);
  add("p90", spread.p90);
  add("standard_error", spread.standard_error);
  return json;
}

template <class Range, class Quantity>
Json range_json(const Range& range, Quantity unit, const char* suffix) {
  Json json;
  json.add(fmt::format("mean_{}", suffix), Json(range.mean.in(unit)));
  json.add(fmt::format("p10_{}", suffix), Json(range.p10.in(unit)));
  json.add(fmt::format("p90_{}", suffix), Json(range.p90.in(unit)));
  return json;
}

Json bill_json(const Bill& bill) {
  Json json;
  for (const BillPart& part : kBillParts) json.add(part.key, Json((bill.*part.field).in(kDollar)));
  return json;
}

void add_share(Json& json, const char* name, const std::optional<double>& share) {
  if (share) json.add(name, Json(*share));
}

Json planned_json(const Plan& plan) {
  Json json;
  json.add("time", range_json(plan.time, kSecond, "s"));
  json.add("cost", range_json(plan.cost, kDollar, "usd"));
  if (plan.bill) json.add("bill", bill_json(*plan.bill));
  add_share(json, "p_deadline", plan.p_deadline);
  add_share(json, "p_budget", plan.p_budget);
  return json;
}

Json simulated_json(const PlanRuns& runs) {
  const RunSummary& it = runs.summary;
  Json json;
  json.add("runs", Json(it.runs));
  json.add("time", spread_json(it.time, kSecond, "s"));
  json.add("cost", spread_json(it.cost, kDollar, "usd"));
  json.add("bill", bill_json(it.bill));
  json.add("losses", Json(it.losses));
  json.add("machines_lost", Json(runs.machines_lost));
  json.add("finished", Json(it.finished));
  add_share(json, "p_deadline", it.p_deadline);
  add_share(json, "p_budget", runs.p_budget);
  return json;
}

Json limits_json(const PlanGoal& goal) {
  Json json;
  if (goal.deadline) json.add("deadline_s", Json(goal.deadline->in(kSecond)));
  if (goal.budget) json.add("budget_usd", Json(goal.budget->in(kDollar)));
  if (goal.rate_max) json.add("rate_max_usd_per_h", Json(goal.rate_max->in(kDollar / kHour)));
  json.add("confidence", Json(goal.confidence));
  return json;
}

std::string limits_text(const RevocationsReport& report) {
  const PlanGoal& goal = report.goal;
  std::string text =
      fmt::format("at most {}/h and {} VMs", dollars(*goal.rate_max * kHour), report.vms_max);
  if (goal.deadline) text += fmt::format(", done in {}", hours(*goal.deadline));
  if (goal.budget) text += fmt::format(", for {}", dollars(*goal.budget));
  return fmt::format("{} with {} confidence", text, percent(goal.confidence));
}

}  // namespace

std::vector<OptionSpec> simulation_options() {
  return {{.name = "--calibration",
           .value = "NAME|FILE",
           .help = "Constants of the network (default: the shipped ones)."},
          {.name = "--runs", .value = "N", .help = "Runs to simulate (default: 1000)."},
          {.name = "--seed", .value = "N", .help = "Of the chance (default: 1)."},
          {.name = "--as-predicted",
           .help = "Let iterations take what is predicted, instead of drawing their time from the "
                   "plan's interval for each run."}};
}

Result<SimulateOptions> simulation_of(const Invocation& invocation) {
  SimulateOptions options{.prediction_error = !invocation.has("--as-predicted")};
  const auto runs = count_of(invocation, "--runs");
  if (!runs.ok()) return runs.error();
  options.runs = runs->value_or(options.runs);
  if (options.runs > kRunsMax) return bad_usage(fmt::format("--runs must be at most {}", kRunsMax));
  const auto seed = count_of(invocation, "--seed");
  if (!seed.ok()) return seed.error();
  options.seed = static_cast<std::uint64_t>(seed->value_or(1));
  return options;
}

std::string simulation_text(const SimulateReport& report, const Terminal& terminal) {
  const RunSummary& it = report.runs.summary;
  const Plan& plan = report.plan;
  Table table({{.title = "", .importance = 9},
               right("planned", 8),
               right("simulated", 9),
               right("10 % below", 6),
               right("median", 5),
               right("90 % below", 7)});
  table.add({"time", hours(plan.time.mean), hours(it.time.mean), hours(it.time.p10),
             hours(it.time.p50), hours(it.time.p90)});
  table.add({"cost", dollars(plan.cost.mean), dollars(it.cost.mean), dollars(it.cost.p10),
             dollars(it.cost.p50), dollars(it.cost.p90)});
  if (it.p_deadline) {
    table.add({"in time", share_text(plan.p_deadline), percent(*it.p_deadline), "", "", ""});
  }
  if (report.runs.p_budget) {
    table.add({"in budget", share_text(plan.p_budget), percent(*report.runs.p_budget), "", "", ""});
  }
  if (it.finished < 1) table.add({"ever finished", "", percent(it.finished), "", "", ""});
  table.add({"times stopped", "", few(it.losses), "", "", ""});
  table.add({"machines lost", "", few(report.runs.machines_lost), "", "", ""});
  for (const BillPart& part : kBillParts) {
    const std::string planned = plan.bill ? dollars((*plan.bill).*part.field) : "";
    table.add({part.name, planned, dollars(it.bill.*part.field), "", "", ""});
  }
  return fmt::format("{} on {} in {}, {} runs\n\n{}", report.job, to_text(plan.cluster),
                     report.region, it.runs, table.text(terminal, "-o json"));
}

Json simulation_json(const SimulateReport& report) {
  Json json;
  json.add("schema", kRiskSchema);
  json.add("what", "simulate");
  json.add("job", Json(report.job));
  json.add("cluster", Json(to_text(report.plan.cluster)));
  json.add("region", Json(report.region));
  if (report.trace) json.add("trace", Json(*report.trace));
  json.add("limits", limits_json(report.goal));
  json.add("planned", planned_json(report.plan));
  json.add("simulated", simulated_json(report.runs));
  return json;
}

std::string revocations_text(const RevocationsReport& report, const Terminal& terminal) {
  std::vector<Column> columns{{.title = "policy", .importance = 9},
                              {.title = "cluster", .importance = 6},
                              right("planned", 4),
                              right("dollars (80 %)", 9),
                              right("time (80 %)", 8)};
  if (report.goal.deadline) columns.push_back(right("in time", 7));
  if (report.goal.budget) columns.push_back(right("in budget", 7));
  columns.push_back(right("losses", 5));
  Table table(std::move(columns));
  for (const RevocationsRow& row : report.rows) {
    const RunSummary& it = row.runs.summary;
    const CostRange cost{it.cost.mean, it.cost.p10, it.cost.p90};
    const TimeRange time{it.time.mean, it.time.p10, it.time.p90};
    std::vector<std::string> cells{row.policy, to_text(row.plan.cluster),
                                   dollars(row.plan.cost.mean), with_interval(cost),
                                   with_interval(time)};
    if (report.goal.deadline) cells.push_back(share_text(it.p_deadline));
    if (report.goal.budget) cells.push_back(share_text(row.runs.p_budget));
    cells.push_back(few(it.losses));
    table.add(std::move(cells));
  }
  return fmt::format(
      "{}: {} runs of each plan; {}\n\n{}\nDeepVM's runs cost {:.3g} times what Stint's do; by the "
      "median {:.3g} times.\n",
      report.job, report.options.runs, limits_text(report), table.text(terminal, "-o json"),
      report.deepvm_over_stint, report.deepvm_over_stint_median);
}

Json revocations_json(const RevocationsReport& report) {
  Json limits = limits_json(report.goal);
  limits.add("vms_max", Json(report.vms_max));
  Json::Array rows;
  for (const RevocationsRow& row : report.rows) {
    Json entry;
    entry.add("policy", Json(row.policy));
    entry.add("cluster", Json(to_text(row.plan.cluster)));
    entry.add("region", Json(row.region));
    entry.add("keeps_limits", Json(!row.binding));
    if (row.binding) entry.add("binding", Json(*row.binding));
    entry.add("planned", planned_json(row.plan));
    entry.add("simulated", simulated_json(row.runs));
    rows.push_back(std::move(entry));
  }
  Json json;
  json.add("schema", kValidationSchema);
  json.add("what", "revocations");
  json.add("job", Json(report.job));
  json.add("seed", Json(static_cast<int>(report.options.seed)));
  json.add("prediction_error", Json(report.options.prediction_error));
  json.add("limits", std::move(limits));
  json.add("policies", Json(std::move(rows)));
  json.add("deepvm_over_stint", Json(report.deepvm_over_stint));
  json.add("deepvm_over_stint_median", Json(report.deepvm_over_stint_median));
  return json;
}

}  // namespace stint::cli
