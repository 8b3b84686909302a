#include "cli/render/run_page.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/render/render_run.h"
#include "cli/render/render_search.h"

namespace stint::cli {
namespace {

constexpr double kWidth = 860;
constexpr double kLeft = 70;
constexpr double kRight = 20;
constexpr std::size_t kPointsMax = 400;  // Of a curve; more cannot be seen.

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--ink:#1b1f24;--dim:#68707a;--line:#d8dde3;--back:#fff;
--spot:#3b82c4;--demand:#8a5fbf;--good:#2e8b57;--bad:#c4483b}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ed;--dim:#98a1ab;--line:#3a4149;--back:#15181c;
--spot:#64a7e0;--demand:#b28fe0;--good:#5cc08a;--bad:#e87a6e}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:900px;
margin:2em auto;padding:0 1em}
h1{font-size:1.5em;margin-bottom:0}h2{font-size:1.1em;margin:2em 0 .5em}
p.lead{color:var(--dim);margin-top:.2em}
table{border-collapse:collapse;width:100%}td,th{padding:.25em .6em;text-align:right;
border-bottom:1px solid var(--line)}td:first-child,th:first-child{text-align:left}
td.text{text-align:left}.scroll{overflow-x:auto}
svg text{font:11px system-ui,sans-serif;fill:var(--dim)}
svg .axis{stroke:var(--line)}
)";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else if (c == '"') {
      safe += "&quot;";
    } else {
      safe += c;
    }
  }
  return safe;
}

/// A round step of an axis of about five marks.
double round_step(double span) {
  const double raw = span / 5;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

/// The time axis that all pictures share.
class TimeAxis {
 public:
  explicit TimeAxis(Seconds until) : until_(std::max(1.0, until.in(kSecond))) {}

  double x(Seconds at) const {
    const double share = std::clamp(at.in(kSecond) / until_, 0.0, 1.0);
    return kLeft + share * (kWidth - kLeft - kRight);
  }

  std::string marks(double top, double bottom) const {
    std::string svg;
    const double step = round_step(until_);
    for (double at = 0; at <= until_; at += step) {
      const double place = x(at * kSecond);
      svg += fmt::format("<line class=axis x1={:.1f} x2={:.1f} y1={:.1f} y2={:.1f} />", place,
                         place, top, bottom);
      svg += fmt::format("<text x={:.1f} y={:.1f} text-anchor=middle>{}</text>", place, bottom + 14,
                         at == 0 ? "0" : duration(at * kSecond));
    }
    return svg;
  }

 private:
  double until_;
};

std::string svg_of(double height, const std::string& inside, std::string_view label) {
  return fmt::format(
      "<div class=scroll><svg viewBox=\"0 0 {:.0f} {:.0f}\" role=img aria-label=\"{}\">{}</svg>"
      "</div>",
      kWidth, height, escaped(label), inside);
}

std::string machines_picture(const RunReport& report, const TimeAxis& axis) {
  const RunStory& story = report.story;
  constexpr double kRow = 20;
  const double bottom = 10 + kRow * static_cast<double>(story.vms.size());
  std::string svg = axis.marks(6, bottom);
  for (std::size_t i = 0; i < story.vms.size(); ++i) {
    const StoryVm& vm = story.vms[i];
    const double y = 10 + kRow * static_cast<double>(i);
    const double from = axis.x(vm.from);
    const double until = axis.x(vm.until.value_or(story.time));
    svg += fmt::format("<text x={:.0f} y={:.1f} text-anchor=end>{}</text>", kLeft - 6, y + 13,
                       escaped(vm.name));
    svg += fmt::format(
        "<rect x={:.1f} y={:.1f} width={:.1f} height={} rx=3 fill=\"var(--{})\" opacity=.8>"
        "<title>{}</title></rect>",
        from, y + 2, std::max(1.0, until - from), kRow - 5,
        vm.market == Market::kSpot ? "spot" : "demand",
        escaped(
            fmt::format("{} {} {}: {}", vm.name, vm.type, name_of(vm.market), bill_text(vm.cost))));
    if (vm.taken) {
      svg +=
          fmt::format("<text x={:.1f} y={:.1f} style=\"fill:var(--bad);font-weight:700\">×</text>",
                      until + 2, y + 14);
    }
  }
  for (const StoryAttempt& attempt : story.attempts) {
    if (!attempt.training) continue;
    svg += fmt::format(
        "<line x1={0:.1f} x2={0:.1f} y1=4 y2={1:.1f} stroke=\"var(--good)\" "
        "stroke-dasharray=\"3 3\"><title>training after step {2}</title></line>",
        axis.x(*attempt.training), bottom, attempt.from_step);
  }
  return svg_of(bottom + 22, svg, "machines over time");
}

struct CurvePoint {
  Seconds at;
  double value = 0;
};

/// A curve over time, thinned to what can be seen.
std::string curve(const std::vector<CurvePoint>& points, const TimeAxis& axis, double top,
                  double bottom, double low, double high, const char* style) {
  std::string path;
  const std::size_t stride = std::max<std::size_t>(1, points.size() / kPointsMax);
  for (std::size_t i = 0; i < points.size(); i += stride) {
    const double share = high > low ? (points[i].value - low) / (high - low) : 0.5;
    path += fmt::format("{:.1f},{:.1f} ", axis.x(points[i].at), bottom - share * (bottom - top));
  }
  return fmt::format("<polyline points=\"{}\" fill=none {} />", path, style);
}

std::string value_marks(double low, double high, double top, double bottom) {
  std::string svg;
  for (const double value : {low, (low + high) / 2, high}) {
    const double y = high > low ? bottom - (value - low) / (high - low) * (bottom - top) : bottom;
    svg += fmt::format("<text x={:.0f} y={:.1f} text-anchor=end>{:.4g}</text>", kLeft - 6, y + 4,
                       value);
  }
  return svg;
}

std::string progress_curve(const RunReport& report, const TimeAxis& axis) {
  if (report.steps.empty()) return "";
  std::vector<CurvePoint> points;
  for (const LossPoint& step : report.steps) {
    points.push_back({step.at, static_cast<double>(step.step)});
  }
  const auto high = static_cast<double>(report.story.steps);
  std::string svg = axis.marks(10, 180) + value_marks(0, high, 10, 180);
  if (report.record.forecast) {
    const Seconds end = report.record.forecast->time.mean;
    svg += curve({{Seconds{}, 0}, {end, high}}, axis, 10, 180, 0, high,
                 "stroke=\"var(--dim)\" stroke-dasharray=\"5 4\"");
  }
  svg += curve(points, axis, 10, 180, 0, high, "stroke=\"var(--good)\" stroke-width=2");
  return "<h2>Steps (dashed: plan)</h2>" + svg_of(202, svg, "steps over time");
}

std::string loss_curve(const RunReport& report, const TimeAxis& axis) {
  std::vector<CurvePoint> points;
  double low = INFINITY;
  double high = -INFINITY;
  for (const LossPoint& step : report.steps) {
    if (!std::isfinite(step.loss)) continue;
    points.push_back({step.at, step.loss});
    low = std::min(low, step.loss);
    high = std::max(high, step.loss);
  }
  if (points.size() < 2 || !(high > low)) return "";
  const std::string svg =
      axis.marks(10, 180) + value_marks(low, high, 10, 180) +
      curve(points, axis, 10, 180, low, high, "stroke=\"var(--spot)\" stroke-width=1.5");
  return "<h2>Loss of the global batch</h2>" + svg_of(202, svg, "loss over time");
}

std::string comparison(const RunReport& report) {
  std::string rows;
  for (const ForecastRow& row : forecast_rows(report)) {
    rows +=
        fmt::format("<tr><td>{}<td>{}<td>{}<td>{}<td>{}", escaped(row.what), escaped(row.predicted),
                    escaped(row.interval), escaped(row.measured), escaped(row.off));
  }
  return "<h2>Predicted and measured</h2><div class=scroll><table><tr><th><th>predicted<th>80 % "
         "interval<th>measured<th>error" +
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
  return "<h2>Breakdown of time and cost</h2><div class=scroll><table><tr><th><th>time<th>cost" +
         rows +
         "</table></div><h2>Bill</h2><div class=scroll><table><tr><th>machine<th "
         "class=text>type<th class=text>market<th>billed<th>cost" +
         vms +
         fmt::format("<tr><th>total<th><th><th><th>{}</table></div>", bill_text(report.story.cost));
}

std::string events(const RunReport& report) {
  std::string rows;
  for (const StoryLine& line : report.story.lines) {
    rows += fmt::format("<tr><td>{}<td class=text>{}", moment_text(line.at), escaped(line.text));
  }
  return "<h2>Events</h2><div class=scroll><table>" + rows + "</table></div>";
}

}  // namespace

std::string run_page(const RunReport& report) {
  const RunStory& story = report.story;
  const TimeAxis axis(story.time);
  const std::string state = story.outcome  ? name_of(*story.outcome)
                            : report.alive ? "running"
                                           : "halted";
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
  page +=
      "<h2>Machines (blue: spot, violet: on-demand, ×: interrupted, dashed: training starts)</h2>" +
      machines_picture(report, axis);
  if (report.search) page += search_map(*report.search);
  page += progress_curve(report, axis) + loss_curve(report, axis) + comparison(report) +
          money(report) + events(report);
  return page + "</html>\n";
}

}  // namespace stint::cli
