#include "cli/render/render_risk.h"

#include <fmt/format.h>
#include <utility>

#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/views/risk_views.h"

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
               right("p90", 5)});
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
      "{} of losses come in shocks that take {} of the pool on average: {} machines see a loss "
      "{:.1f} times as often as one machine, not {} times.",
      percent(group.shared), percent(group.reach), kGroup, events, kGroup);
}

std::string lifetime_table(const LifetimeReport& report, const Terminal& terminal) {
  Table table({right("age", 9), right("alive", 8), right("95 % interval", 6), right("fitted", 8),
               right("losses/h", 5), right("exponential", 7)});
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
               right("median", 8), right("p90", 7)});
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

LifetimesView view_of(const LifetimeReport& report) {
  LifetimesView view{.machines = report.machines,
                     .losses = report.losses,
                     .exposure = report.exposure,
                     .rate = report.rate,
                     .survival = {},
                     .hazard = {},
                     .kinds = report.kinds};
  for (const LifetimeHorizon& it : report.horizons) {
    HorizonView& horizon = view.survival.emplace_back(HorizonView{.hours = it.age.in(kHour),
                                                                  .measured = {},
                                                                  .low = {},
                                                                  .high = {},
                                                                  .fitted = it.fitted,
                                                                  .exponential = it.exponential});
    if (!it.measured) continue;
    horizon.measured = it.measured->share;
    horizon.low = it.measured->low;
    horizon.high = it.measured->high;
  }
  for (const HazardStep& it : report.hazard.steps()) view.hazard.push_back({it.from, it.rate});
  return view;
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
    parts.push_back(fmt::format(
        "{}, {} lost in {:.0f} h of observation: {:.3g} per hour at a constant rate.\n{}",
        counted(static_cast<std::size_t>(lifetimes->machines), "machine"), lifetimes->losses,
        lifetimes->exposure.in(kHour), lifetimes->rate.in(1 / kHour),
        lifetime_table(*lifetimes, terminal)));
  }
  if (!report.startups.empty()) parts.push_back(startup_table(report, terminal));
  if (!report.failures.empty()) parts.push_back(failure_table(report, terminal));
  return join(parts, "\n");
}

Json risk_fit_json(const RiskFitReport& report) {
  RiskFitView view{.traces = report.traces,
                   .dependence = report.group,
                   .lifetimes = {},
                   .startups = report.startups,
                   .creation_failures = report.failures};
  if (report.lifetimes) view.lifetimes = view_of(*report.lifetimes);
  return encoded(view);
}

std::string survive_text(const SurviveReport& report, const Terminal& terminal) {
  Table table({left("", 9), right("likely", 9), right("band", 7), right("if independent", 8)});
  const RiskFigure& all = report.all_left;
  table.add({"all survive", percent(all.typical),
             fmt::format("{} - {}", percent(all.low), percent(all.high)),
             percent(all.independent)});
  const RiskFigure& lost = report.losses_expected;
  table.add({"machines lost", fmt::format("{:.3g}", lost.typical),
             fmt::format("{:.3g} - {:.3g}", lost.low, lost.high),
             fmt::format("{:.3g}", lost.independent)});
  const FirstLoss& first = report.first_loss;
  const FirstLoss& alone = report.first_loss_independent;
  table.add({"first loss, median", time_text(first.median), "", time_text(alone.median)});
  table.add({"  p10", time_text(first.p10), "", time_text(alone.p10)});
  table.add({"  p90", time_text(first.p90), "", time_text(alone.p90)});
  for (const LeftShare& it : report.left) {
    table.add({fmt::format("at least {} left", it.machines), percent(it.typical), "",
               percent(it.independent)});
  }
  return fmt::format("{} x {} for {}\n\n{}", report.count, report.vm, time_text(report.time),
                     table.text(terminal, "-o json"));
}

Json survive_json(const SurviveReport& report) {
  return encoded(SurviveView{.vm = report.vm,
                             .count = report.count,
                             .time = report.time,
                             .all_left = report.all_left,
                             .losses_expected = report.losses_expected,
                             .at_least = report.left,
                             .first_loss = {report.first_loss, report.first_loss_independent},
                             .dependence = report.group,
                             .hazard_origin = report.hazard_origin,
                             .dependence_origin = report.group_origin});
}

}  // namespace stint::cli
