#include "cli/render/run_page.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "app/version.h"
#include "base/date.h"
#include "base/text.h"
#include "cli/render/charts.h"
#include "cli/render/figures.h"
#include "cli/render/render_run.h"
#include "cli/render/render_search.h"

namespace stint::cli {
namespace {

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--ink:#1b1f24;--dim:#68707a;--line:#d8dde3;--back:#fff;
--spot:#3b82c4;--demand:#8a5fbf;--good:#2e8b57;--bad:#c4483b}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ed;--dim:#98a1ab;--line:#3a4149;--back:#15181c;
--spot:#64a7e0;--demand:#b28fe0;--good:#5cc08a;--bad:#e87a6e}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:900px;
margin:2em auto;padding:0 1em}
h1{font-size:1.5em;margin-bottom:0;overflow-wrap:anywhere}h2{font-size:1.1em;margin:2em 0 .5em}
p.lead{color:var(--dim);margin-top:.2em}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15em 1em;margin:1em 0}
dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
td,th{padding:.25em .6em;text-align:right;vertical-align:top;border-bottom:1px solid var(--line)}
th{color:var(--dim);font-weight:600}tfoot th{color:var(--ink)}
td:first-child,th:first-child,td.text,th.text{text-align:left}
td:not(:first-child):not(.text){white-space:nowrap}
table.events td:first-child{width:6.5em}summary{cursor:pointer;margin:.5em 0}
ul.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2em 1.4em;margin:0 0 .3em;padding:0;
color:var(--dim);font-size:.9em}
ul.legend i{display:inline-block;width:1.3em;height:.75em;margin-right:.45em;border-radius:2px;
vertical-align:-.05em;font-style:normal;line-height:.75em;text-align:center}
.scroll{overflow-x:auto}svg.chart{display:block;width:100%;height:auto}
svg text{font:11px system-ui,sans-serif;fill:var(--dim)}svg.chart text{font-size:12px}
svg .axis{stroke:var(--line)}
.hit rect{fill:transparent}.hit circle{fill:var(--ink);opacity:0}
.hit:hover rect{fill:var(--dim);opacity:.15}.hit:hover circle{opacity:1}
@media (max-width:600px){body{font-size:14px;margin:1em auto;padding:0 .7em}td,th{padding:.2em .3em}
svg.chart text{font-size:17px}table.events td:first-child{width:5.5em}}
)";

/// A key of a legend that is a line.
std::string line_key(std::string_view line, std::string_view colour) {
  return fmt::format("height:0;border-radius:0;vertical-align:.25em;border-top:2px {} var(--{})",
                     line, colour);
}

std::string area_key(std::string_view colour, std::string_view opacity) {
  return fmt::format("background:var(--{});opacity:{}", colour, opacity);
}

/// The time that all charts show: the run's, and as much of its forecast as leaves the run visible.
TimeAxis axis_of(const RunReport& report) {
  Seconds until = report.story.time;
  if (report.record.forecast) {
    const Seconds end = report.record.forecast->time.p90;
    // A run that has only begun is shown before all of its forecast.
    until = report.alive ? std::max(until, end) : std::max(until, std::min(end, 2 * until));
  }
  return TimeAxis(until);
}

std::string machines_picture(const RunReport& report, const TimeAxis& axis) {
  const RunStory& story = report.story;
  if (story.vms.empty()) return "";
  constexpr double kRow = 22;
  const double bottom = 10 + kRow * static_cast<double>(story.vms.size());
  std::string svg = axis.marks(6, bottom);
  for (std::size_t i = 0; i < story.vms.size(); ++i) {
    const StoryVm& vm = story.vms[i];
    const double y = 10 + kRow * static_cast<double>(i);
    const double from = axis.x(vm.from);
    const double until = axis.x(vm.until.value_or(story.time));
    svg += fmt::format("<text x={:.0f} y={:.1f} text-anchor=end>{}</text>", kPictureLeft - 8,
                       y + 15, escaped(vm.name));
    svg += fmt::format(
        "<rect x={:.1f} y={:.1f} width={:.1f} height={} rx=3 fill=\"var(--{})\" opacity=.8>"
        "<title>{}</title></rect>",
        from, y + 3, std::max(1.0, until - from), kRow - 5,
        vm.market == Market::kSpot ? "spot" : "demand",
        escaped(fmt::format("{} {} {}: {}–{}, {}{}", vm.name, vm.type, name_of(vm.market),
                            duration(vm.from), duration(vm.until.value_or(story.time)),
                            bill_text(vm.cost), vm.taken ? ", interrupted" : "")));
    if (vm.taken) {
      svg +=
          fmt::format("<text x={:.1f} y={:.1f} style=\"fill:var(--bad);font-weight:700\">×</text>",
                      until + 2, y + 16);
    }
  }
  for (const StoryAttempt& attempt : story.attempts) {
    if (!attempt.training) continue;
    svg += fmt::format(
        "<line x1={0:.1f} x2={0:.1f} y1=4 y2={1:.1f} stroke=\"var(--good)\" stroke-width=2 "
        "stroke-dasharray=\"3 3\"><title>training after step {2}</title></line>",
        axis.x(*attempt.training), bottom, attempt.from_step);
  }
  return "<h2>Machines</h2>" +
         legend({{area_key("spot", ".8"), "spot"},
                 {area_key("demand", ".8"), "on-demand"},
                 {"color:var(--bad);font-weight:700", "interrupted", "×"},
                 {line_key("dashed", "good"), "training starts"}}) +
         picture(bottom + 26, svg, "machines over time");
}

std::string progress_chart(const RunReport& report, const TimeAxis& axis) {
  if (report.steps.empty()) return "";
  std::vector<ChartPoint> points;
  for (const LossPoint& step : report.steps) {
    points.push_back(
        {step.at, static_cast<double>(step.step),
         fmt::format("{}: step {} of {}", duration(step.at), step.step, report.story.steps)});
  }
  const auto high = static_cast<double>(std::max<std::int64_t>(1, report.story.steps));
  Chart chart(axis, value_ticks(0, high));
  std::vector<LegendKey> keys = {{line_key("solid", "good"), "trained"}};
  if (report.record.forecast) {
    const TimeRange& end = report.record.forecast->time;
    const ChartPoint begin{Seconds{}, 0};
    chart.add_band({begin, {end.p90, high}}, {begin, {end.p10, high}}, "dim");
    chart.add_curve({begin, {end.mean, high}}, "dim", "stroke-dasharray=\"5 4\"");
    keys.push_back({line_key("dashed", "dim"), "forecast"});
    keys.push_back({area_key("dim", ".2"), "its 80 % interval"});
  }
  chart.add_curve(points, "good", "stroke-width=2");
  chart.add_labels(points);
  return "<h2>Steps</h2>" + legend(keys) + chart.svg("steps over time");
}

std::string loss_chart(const RunReport& report, const TimeAxis& axis) {
  std::vector<ChartPoint> points;
  double low = INFINITY;
  double high = -INFINITY;
  for (const LossPoint& step : report.steps) {
    if (!std::isfinite(step.loss)) continue;
    points.push_back(
        {step.at, step.loss,
         fmt::format("{}, step {}: loss {:.4g}", duration(step.at), step.step, step.loss)});
    low = std::min(low, step.loss);
    high = std::max(high, step.loss);
  }
  if (points.size() < 2 || !(high > low) || !std::isfinite(high - low)) return "";
  Chart chart(axis, value_ticks(low, high));
  chart.add_curve(points, "spot", "stroke-width=1.5");
  chart.add_labels(points);
  return "<h2>Loss of the global batch</h2>" + chart.svg("loss over time");
}

/// What all machines have cost until then. Each is taken to cost the same in every second.
Dollars cost_until(const RunStory& story, Seconds at) {
  Dollars sum;
  for (const StoryVm& vm : story.vms) {
    const Seconds life = vm.until.value_or(story.time) - vm.from;
    const double share = life > Seconds{} ? (at - vm.from) / life : at >= vm.from ? 1 : 0;
    sum += std::clamp(share, 0.0, 1.0) * vm.cost;
  }
  return sum;
}

std::vector<ChartPoint> cost_points(const RunStory& story) {
  // Bends are where machines come and go; the points between are for the pointer.
  constexpr int kBetween = 30;
  std::vector<Seconds> moments = {Seconds{}, story.time};
  for (const StoryVm& vm : story.vms) {
    moments.push_back(vm.from);
    if (vm.until) moments.push_back(*vm.until);
  }
  for (int i = 1; i < kBetween; ++i) moments.push_back(story.time * (1.0 * i / kBetween));
  std::sort(moments.begin(), moments.end());
  std::vector<ChartPoint> points;
  for (const Seconds at : moments) {
    const Dollars cost = cost_until(story, at);
    points.push_back({at, cost.in(kDollar), fmt::format("{}: {}", duration(at), bill_text(cost))});
  }
  return points;
}

std::string cost_chart(const RunReport& report, const TimeAxis& axis) {
  const std::vector<ChartPoint> points = cost_points(report.story);
  const auto& forecast = report.record.forecast;
  const double paid = points.back().value;
  const double high = std::max(paid, forecast ? forecast->cost.p90.in(kDollar) : 0.0);
  if (!(high > 0)) return "";
  Chart chart(axis, value_ticks(0, high, "$"));
  std::vector<LegendKey> keys = {{line_key("solid", "demand"), "cost"}};
  if (forecast) {
    const TimeRange& end = forecast->time;
    const CostRange& cost = forecast->cost;
    const ChartPoint begin{Seconds{}, 0};
    chart.add_band({begin, {end.p90, cost.p10.in(kDollar)}, {end.p90, cost.p90.in(kDollar)}},
                   {begin, {end.p10, cost.p90.in(kDollar)}, {end.p90, cost.p90.in(kDollar)}},
                   "dim");
    chart.add_curve({begin, {end.mean, cost.mean.in(kDollar)}}, "dim", "stroke-dasharray=\"5 4\"");
    keys.push_back({line_key("dashed", "dim"), "forecast"});
    keys.push_back({area_key("dim", ".2"),
                    fmt::format("its 80 % interval: {}–{} after {}–{}", bill_text(cost.p10),
                                bill_text(cost.p90), duration(end.p10), duration(end.p90))});
  }
  chart.add_curve(points, "demand", "stroke-width=2");
  chart.add_labels(points);
  return "<h2>Cost</h2>" + legend(keys) + chart.svg("cost over time");
}

std::string instant_text(Seconds since_epoch) {
  const auto minutes = static_cast<std::int64_t>(std::floor(since_epoch.in(kMinute)));
  return fmt::format("{} {:02}:{:02} UTC", to_text(date_at(since_epoch)), minutes / 60 % 24,
                     minutes % 60);
}

/// "48 samples (24 per local.small, in micro-batches of 8)".
std::string batch_text(const RunRecord& record) {
  std::vector<std::string> kinds;
  for (const RunMachines& machines : record.plan.machines) {
    if (!machines.trains) continue;
    std::string kind = fmt::format("{} per {}", machines.batch_per_vm, machines.type);
    if (machines.micro_batch < machines.batch_per_vm) {
      kind += fmt::format(", in micro-batches of {}", machines.micro_batch);
    }
    kinds.push_back(std::move(kind));
  }
  const int batch = batch_of(record, record.plan);
  return fmt::format("{} samples ({})", batch, join(kinds, "; "));
}

/// Arguments may hold keys and names of people.
std::string command_text(const std::vector<std::string>& command, bool with_arguments) {
  std::vector<std::string> words;
  for (const std::string& word : command) words.push_back(shell_quoted(word));
  if (with_arguments || words.size() < 2) return join(words, " ");
  return fmt::format("{} ({} not shown)", words[0], counted(words.size() - 1, "argument"));
}

std::string facts(const RunReport& report, bool with_arguments) {
  const RunRecord& record = report.record;
  const std::string command = command_text(record.command, with_arguments);
  std::vector<std::pair<const char*, std::string>> rows = {{"Started", instant_text(record.began)},
                                                           {"Command", command},
                                                           {"Cluster", cluster_text(record.plan)},
                                                           {"Batch", batch_text(record)},
                                                           {"Stint", version().number}};
  if (record.deadline) rows.emplace_back("Deadline", duration(*record.deadline));
  if (record.budget) rows.emplace_back("Budget", bill_text(*record.budget));
  std::string list;
  for (const auto& [name, value] : rows) {
    list += fmt::format("<dt>{}<dd>{}", name, escaped(without_controls(value)));
  }
  return "<dl>" + list + "</dl>";
}

std::string comparison(const RunReport& report) {
  std::string rows;
  for (const ForecastRow& row : forecast_rows(report)) {
    rows +=
        fmt::format("<tr><td>{}<td>{}<td>{}<td>{}<td>{}", escaped(row.what), escaped(row.predicted),
                    escaped(row.interval), escaped(row.measured), escaped(row.off));
  }
  if (rows.empty()) return "";
  return "<h2>Predicted and measured</h2><div class=scroll><table><tr><th>quantity<th>predicted"
         "<th>80 % interval<th>measured<th>error" +
         rows + "</table></div>";
}

std::string money(const RunReport& report) {
  std::string rows;
  for (const StoryPart& part : report.story.parts) {
    rows +=
        fmt::format("<tr><td>{}<td>{}<td>{}", part.name, duration(part.time), bill_text(part.cost));
  }
  std::string vms;
  for (const StoryVm& vm : report.story.vms) {
    vms += fmt::format("<tr><td>{}<td class=text>{}<td class=text>{}<td>{:.1f} s<td>{}",
                       escaped(vm.name), escaped(vm.type), name_of(vm.market),
                       vm.billed.in(kSecond), bill_text(vm.cost));
  }
  return "<h2>Breakdown of time and cost</h2><div class=scroll><table>"
         "<tr><th>activity<th>time<th>cost" +
         rows +
         "</table></div><h2>Bill</h2><div class=scroll><table><tr><th>machine<th "
         "class=text>type<th class=text>market<th>billed<th>cost" +
         vms +
         fmt::format("<tfoot><tr><th>total<th><th><th><th>{}</table></div>",
                     bill_text(report.story.cost));
}

std::string event_table(const std::vector<const StoryLine*>& lines) {
  std::string rows;
  for (const StoryLine* line : lines) {
    rows += fmt::format("<tr><td>{}<td class=text>{}", moment_text(line->at), escaped(line->text));
  }
  return "<table class=events><tr><th>time<th class=text>event" + rows + "</table>";
}

/// Checkpoints are many and say little as long as they succeed.
std::string events(const RunReport& report) {
  std::vector<const StoryLine*> lines;
  std::vector<const StoryLine*> saved;
  for (const StoryLine& line : report.story.lines) (line.saved ? saved : lines).push_back(&line);
  std::string page = "<h2>Events</h2>" + event_table(lines);
  if (!saved.empty()) {
    page += fmt::format("<details><summary>{} saved</summary>{}</details>",
                        counted(saved.size(), "checkpoint"), event_table(saved));
  }
  return page;
}

}  // namespace

std::string run_page(const RunReport& report, bool with_arguments) {
  const RunStory& story = report.story;
  const TimeAxis axis = axis_of(report);
  const std::string state = state_text(report);
  std::string page =
      "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width,initial-scale=1\">";
  page += fmt::format("<title>{} — stint</title><style>{}</style>", escaped(report.record.name),
                      kStyle);
  page += fmt::format("<h1>{}</h1><p class=lead>{}: {} of {} steps of {} in {}, for {}.{}</p>",
                      escaped(report.record.name), state, story.reached, story.steps,
                      escaped(report.record.job), duration(story.time), bill_text(story.cost),
                      report.record.compute == RunCompute::kPacedReal
                          ? " Gradients are real, compute takes the profiled time, and the "
                            "machines are emulated: nothing is charged."
                          : " The machines are emulated: nothing is charged.");
  page += facts(report, with_arguments) + machines_picture(report, axis);
  if (report.search) page += search_map(*report.search);
  page += progress_chart(report, axis) + cost_chart(report, axis) + loss_chart(report, axis) +
          comparison(report) + money(report) + events(report);
  return page + "</html>\n";
}

}  // namespace stint::cli
