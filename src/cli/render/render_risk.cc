#include "cli/render/render_risk.h"

#include <fmt/format.h>
#include <utility>

#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"

namespace stint::cli {
namespace {

Column left(std::string title, int importance) {
  return {.title = std::move(title), .importance = importance};
}

/// "95 s", "12.5 min", "4.2 h" or "3.1 d".
std::string time_text(Seconds time) {
  if (time < 2 * kMinute) return fmt::format("{:.0f} s", time.in(kSecond));
  if (time < kHour) return fmt::format("{:.1f} min", time.in(kMinute));
  if (time < 2 * kDay) return fmt::format("{:.1f} h", time.in(kHour));
  return fmt::format("{:.1f} d", time.in(kDay));
}

std::string time_text(const std::optional<Seconds>& time) {
  return time ? time_text(*time) : "never";
}

Json seconds(Seconds time) { return Json(time.in(kSecond)); }
Json seconds(const std::optional<Seconds>& time) { return time ? seconds(*time) : Json(); }

Json summary_json(const TimeSummary& summary) {
  Json json;
  json.add("count", Json(summary.count));
  json.add("mean_s", seconds(summary.mean));
  json.add("median_s", seconds(summary.median));
  json.add("p90_s", seconds(summary.p90));
  return json;
}

void add_spells(Table& table, const TraceReport& it, const char* which, const TimeSummary& spells) {
  const bool any = spells.count > 0;
  table.add({it.name, fmt::to_string(it.ticks), time_text(it.gap), fmt::to_string(it.most),
             percent(it.availability), which, fmt::to_string(spells.count),
             any ? time_text(spells.mean) : "", any ? time_text(spells.median) : "",
             any ? time_text(spells.p90) : ""});
}

std::string trace_table(const RiskFitReport& report, const Terminal& terminal) {
  Table table({{.title = "trace", .importance = 9, .width_min = 16},
               right("ticks", 2),
               right("of", 2),
               right("most", 4),
               right("available", 8),
               left("spells", 7),
               right("count", 6),
               right("mean", 7),
               right("median", 7),
               right("90 % below", 5)});
  for (const TraceReport& it : report.traces) {
    add_spells(table, it, "up", it.up);
    add_spells(table, it, "down", it.down);
  }
  return table.text(terminal, "-o json");
}

/// How often a group is hit, in losses of one machine.
std::string group_text(const GroupLoss& group) {
  constexpr int kGroup = 8;
  const double events = events_rate(group, kGroup, 1 / kSecond).in(1 / kSecond);
  return fmt::format(
      "{} of losses come in shocks that take {} of the pool on average: {} machines lose any of "
      "them {:.1f} times as often as one, not {} times.",
      percent(group.shared), percent(group.reach), kGroup, events, kGroup);
}

std::string lifetime_table(const LifetimeReport& report, const Terminal& terminal) {
  Table table({right("age", 9), right("alive", 8), right("95 % interval", 6), right("fitted", 8),
               right("lost an hour", 5), right("exponential", 7)});
  for (const LifetimeHorizon& it : report.horizons) {
    const auto& measured = it.measured;
    table.add({time_text(it.age), measured ? percent(measured->share) : "",
               measured
                   ? fmt::format("{:.1f} - {:.1f} %", 100 * measured->low, 100 * measured->high)
                   : "",
               percent(it.fitted), fmt::format("{:.2g}", report.hazard.rate(it.age).in(1 / kHour)),
               percent(it.exponential)});
  }
  return table.text(terminal, "-o json");
}

std::string startup_table(const RiskFitReport& report, const Terminal& terminal) {
  Table table({left("start-up of", 9), left("market", 8), right("VMs", 6), right("mean", 7),
               right("median", 8), right("90 % below", 7)});
  for (const StartupReport& it : report.startups) {
    table.add({it.device, it.market, fmt::to_string(it.time.count), time_text(it.time.mean),
               time_text(it.time.median), time_text(it.time.p90)});
  }
  return table.text(terminal, "-o json");
}

std::string failure_table(const RiskFitReport& report, const Terminal& terminal) {
  Table table({left("failed starts in", 9), right("failures", 7), right("hours", 6),
               right("with failures", 8), right("longest stretch", 8)});
  for (const FailureReport& it : report.failures) {
    table.add({it.place, fmt::to_string(it.failures), fmt::to_string(it.hours),
               percent(it.hours_failed), fmt::format("{} h", it.longest)});
  }
  return table.text(terminal, "-o json");
}

Json group_json(const GroupLoss& group) {
  Json json;
  json.add("shared", Json(group.shared));
  json.add("reach", Json(group.reach));
  return json;
}

Json trace_json(const TraceReport& it) {
  Json json;
  json.add("name", Json(it.name));
  json.add("gap_s", seconds(it.gap));
  json.add("ticks", Json(it.ticks));
  json.add("machines_max", Json(it.most));
  json.add("availability", Json(it.availability));
  json.add("up", summary_json(it.up));
  json.add("down", summary_json(it.down));
  return json;
}

Json lifetimes_json(const LifetimeReport& report) {
  Json::Array horizons;
  for (const LifetimeHorizon& it : report.horizons) {
    Json horizon;
    horizon.add("hours", Json(it.age.in(kHour)));
    if (it.measured) {
      horizon.add("measured", Json(it.measured->share));
      horizon.add("low", Json(it.measured->low));
      horizon.add("high", Json(it.measured->high));
    }
    horizon.add("fitted", Json(it.fitted));
    horizon.add("exponential", Json(it.exponential));
    horizons.push_back(std::move(horizon));
  }
  Json::Array hazard;
  for (const HazardStep& it : report.hazard.steps()) {
    Json step;
    step.add("from_s", seconds(it.from));
    step.add("per_hour", Json(it.rate.in(1 / kHour)));
    hazard.push_back(std::move(step));
  }
  Json kinds{Json::Object{}};
  for (const auto& [kind, factor] : report.kinds) kinds.add(kind, Json(factor));
  Json json;
  json.add("machines", Json(report.machines));
  json.add("losses", Json(report.losses));
  json.add("exposure_s", seconds(report.exposure));
  json.add("exponential_per_hour", Json(report.rate.in(1 / kHour)));
  json.add("survival", Json(std::move(horizons)));
  json.add("hazard", Json(std::move(hazard)));
  json.add("kinds", std::move(kinds));
  return json;
}

Json figure_json(const RiskFigure& figure) {
  Json json;
  json.add("typical", Json(figure.typical));
  json.add("low", Json(figure.low));
  json.add("high", Json(figure.high));
  json.add("independent", Json(figure.independent));
  return json;
}

Json first_loss_json(const FirstLoss& first) {
  Json json;
  json.add("p10_s", seconds(first.p10));
  json.add("median_s", seconds(first.median));
  json.add("p90_s", seconds(first.p90));
  return json;
}

}  // namespace

std::string risk_fit_text(const RiskFitReport& report, const Terminal& terminal) {
  std::vector<std::string> parts;
  if (!report.traces.empty()) {
    std::string text = trace_table(report, terminal);
    if (report.group) text += wrapped(group_text(*report.group), terminal.width, 0) + "\n";
    parts.push_back(std::move(text));
  }
  if (const auto& lifetimes = report.lifetimes) {
    parts.push_back(
        fmt::format("{}, {} lost in {:.0f} h of watching: {:.3g} an hour if the rate "
                    "were constant.\n{}",
                    counted(static_cast<std::size_t>(lifetimes->machines), "machine"),
                    lifetimes->losses, lifetimes->exposure.in(kHour), lifetimes->rate.in(1 / kHour),
                    lifetime_table(*lifetimes, terminal)));
  }
  if (!report.startups.empty()) parts.push_back(startup_table(report, terminal));
  if (!report.failures.empty()) parts.push_back(failure_table(report, terminal));
  return join(parts, "\n");
}

Json risk_fit_json(const RiskFitReport& report) {
  Json::Array traces;
  for (const TraceReport& it : report.traces) traces.push_back(trace_json(it));
  Json::Array startups;
  for (const StartupReport& it : report.startups) {
    Json entry;
    entry.add("device", Json(it.device));
    entry.add("market", Json(it.market));
    entry.add("time", summary_json(it.time));
    startups.push_back(std::move(entry));
  }
  Json::Array failures;
  for (const FailureReport& it : report.failures) {
    Json entry;
    entry.add("place", Json(it.place));
    entry.add("failures", Json(it.failures));
    entry.add("hours", Json(it.hours));
    entry.add("hours_failed", Json(it.hours_failed));
    entry.add("longest_h", Json(it.longest));
    failures.push_back(std::move(entry));
  }
  Json json;
  json.add("schema", kRiskSchema);
  json.add("what", "fit");
  json.add("traces", Json(std::move(traces)));
  if (report.group) json.add("dependence", group_json(*report.group));
  if (report.lifetimes) json.add("lifetimes", lifetimes_json(*report.lifetimes));
  json.add("startups", Json(std::move(startups)));
  json.add("creation_failures", Json(std::move(failures)));
  return json;
}

std::string survive_text(const SurviveReport& report, const Terminal& terminal) {
  Table table({left("", 9), right("likely", 9), right("band", 7), right("if independent", 8)});
  const RiskFigure& all = report.all_left;
  table.add({"all still there", percent(all.typical),
             fmt::format("{} - {}", percent(all.low), percent(all.high)),
             percent(all.independent)});
  const RiskFigure& lost = report.losses_expected;
  table.add({"machines lost", fmt::format("{:.3g}", lost.typical),
             fmt::format("{:.3g} - {:.3g}", lost.low, lost.high),
             fmt::format("{:.3g}", lost.independent)});
  const FirstLoss& first = report.first_loss;
  const FirstLoss& alone = report.first_loss_independent;
  table.add({"first loss, median", time_text(first.median), "", time_text(alone.median)});
  table.add({"one time in ten before", time_text(first.p10), "", time_text(alone.p10)});
  table.add({"one time in ten after", time_text(first.p90), "", time_text(alone.p90)});
  for (const LeftShare& it : report.left) {
    table.add({fmt::format("at least {} left", it.machines), percent(it.typical), "",
               percent(it.independent)});
  }
  return fmt::format("{} x {} for {}\n\n{}", report.count, report.vm, time_text(report.time),
                     table.text(terminal, "-o json"));
}

Json survive_json(const SurviveReport& report) {
  Json::Array left_list;
  for (const LeftShare& it : report.left) {
    Json entry;
    entry.add("machines", Json(it.machines));
    entry.add("probability", Json(it.typical));
    entry.add("independent", Json(it.independent));
    left_list.push_back(std::move(entry));
  }
  Json first = first_loss_json(report.first_loss);
  first.add("independent", first_loss_json(report.first_loss_independent));
  Json json;
  json.add("schema", kRiskSchema);
  json.add("what", "survive");
  json.add("vm", Json(report.vm));
  json.add("count", Json(report.count));
  json.add("for_s", seconds(report.time));
  json.add("p_all_left", figure_json(report.all_left));
  json.add("losses_expected", figure_json(report.losses_expected));
  json.add("at_least", Json(std::move(left_list)));
  json.add("first_loss", std::move(first));
  json.add("dependence", group_json(report.group));
  json.add("hazard_origin", Json(report.hazard_origin));
  json.add("dependence_origin", Json(report.group_origin));
  return json;
}

}  // namespace stint::cli
