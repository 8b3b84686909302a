#include "cli/render/charts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/check.h"

namespace stint::cli {
namespace {

constexpr double kRight = 28;  // Room for half of the last label.
constexpr double kTop = 10;
constexpr double kBottom = 190;
constexpr std::size_t kPointsMax = 400;  // Of a curve; more cannot be seen.
constexpr std::size_t kLabelsMax = 60;   // Of a chart; narrower ones are hard to point at.
constexpr double kTicks = 5;             // About so many marks to an axis.

/// The least of 1, 2, 5 times a power of ten that is not below `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-12)) return factor * power;
  }
  return 10 * power;
}

/// A round step of time that is not below `least`: what clocks and calendars have.
Seconds round_time_step(Seconds least) {
  constexpr std::array kOfMinute = {1.0, 2.0, 5.0, 10.0, 15.0, 30.0};
  constexpr std::array kOfDay = {1.0, 2.0, 3.0, 6.0, 12.0};
  if (least <= 1 * kSecond) return round_step(least.in(kSecond)) * kSecond;
  for (const double count : kOfMinute) {
    if (count * kSecond >= least) return count * kSecond;
  }
  for (const double count : kOfMinute) {
    if (count * kMinute >= least) return count * kMinute;
  }
  for (const double count : kOfDay) {
    if (count * kHour >= least) return count * kHour;
  }
  return std::max(1.0, round_step(least.in(kDay))) * kDay;
}

/// A mark's time in the unit of the steps between marks.
std::string time_label(Seconds at, Seconds step) {
  if (step < kMinute) return fmt::format("{:.6g} s", at.in(kSecond));
  if (step < kHour) return fmt::format("{:.6g} min", at.in(kMinute));
  if (step < kDay) return fmt::format("{:.6g} h", at.in(kHour));
  return fmt::format("{:.6g} d", at.in(kDay));
}

/// A mark's value with the decimals of the steps between marks.
std::string number_label(double value, double step) {
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  if (decimals > 6 || step >= 1e6) return fmt::format("{:.4g}", value);
  return fmt::format("{:.{}f}", value, decimals);
}

/// At most `most` of the points, with the first and the last.
std::vector<ChartPoint> thinned(const std::vector<ChartPoint>& points, std::size_t most) {
  if (points.size() <= most) return points;
  std::vector<ChartPoint> some;
  for (std::size_t i = 0; i < most; ++i) {
    some.push_back(points[i * (points.size() - 1) / (most - 1)]);
  }
  return some;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::vector<Tick> value_ticks(double low, double high, std::string_view prefix) {
  CHECK(std::isfinite(high - low));
  CHECK(low <= high);
  // One value alone has room around it.
  const double span = high > low ? high - low : std::max(std::abs(high), 1.0);
  const double step = round_step(span / kTicks);
  const double first = std::floor(low / step + 1e-9);
  const double last = std::max(std::ceil(high / step - 1e-9), first + 1);
  std::vector<Tick> ticks;
  for (int i = 0; i <= static_cast<int>(last - first); ++i) {
    const double at = (first + i) * step;
    ticks.push_back(
        {at, fmt::format("{}{}{}", at < 0 ? "-" : "", prefix, number_label(std::abs(at), step))});
  }
  return ticks;
}

std::vector<Tick> time_ticks(Seconds until) {
  const Seconds step = round_time_step(until / kTicks);
  std::vector<Tick> ticks;
  for (int i = 0; i * step <= until * (1 + 1e-9); ++i) {
    ticks.push_back({(i * step).in(kSecond), i == 0 ? "0" : time_label(i * step, step)});
  }
  return ticks;
}

TimeAxis::TimeAxis(Seconds until) : until_(std::max(until, 1 * kSecond)) {}

double TimeAxis::x(Seconds at) const {
  return kPictureLeft + at / until_ * (kPictureWidth - kPictureLeft - kRight);
}

std::string TimeAxis::marks(double top, double bottom) const {
  std::string svg;
  for (const Tick& tick : time_ticks(until_)) {
    const double place = x(tick.at * kSecond);
    svg += fmt::format("<line class=axis x1={0:.1f} x2={0:.1f} y1={1:.1f} y2={2:.1f} />", place,
                       top, bottom);
    svg += fmt::format("<text x={:.1f} y={:.1f} text-anchor=middle>{}</text>", place, bottom + 18,
                       tick.label);
  }
  return svg;
}

Chart::Chart(const TimeAxis& axis, std::vector<Tick> values)
    : axis_(axis), values_(std::move(values)) {
  CHECK(values_.size() >= 2);
}

double Chart::y(double value) const {
  const double low = values_.front().at;
  const double share = (value - low) / (values_.back().at - low);
  return kBottom - share * (kBottom - kTop);
}

void Chart::add_band(const std::vector<ChartPoint>& low, const std::vector<ChartPoint>& high,
                     std::string_view colour) {
  std::string path;
  for (const ChartPoint& point : low) {
    path += fmt::format("{:.1f},{:.1f} ", axis_.x(point.at), y(point.value));
  }
  for (auto point = high.rbegin(); point != high.rend(); ++point) {
    path += fmt::format("{:.1f},{:.1f} ", axis_.x(point->at), y(point->value));
  }
  inside_ += fmt::format("<polygon points=\"{}\" fill=\"var(--{})\" opacity=.2 />", path, colour);
}

void Chart::add_curve(const std::vector<ChartPoint>& points, std::string_view colour,
                      std::string_view style) {
  std::string path;
  for (const ChartPoint& point : thinned(points, kPointsMax)) {
    path += fmt::format("{:.1f},{:.1f} ", axis_.x(point.at), y(point.value));
  }
  inside_ += fmt::format("<polyline points=\"{}\" fill=none stroke=\"var(--{})\" {} />", path,
                         colour, style);
}

void Chart::add_labels(const std::vector<ChartPoint>& points) {
  const std::vector<ChartPoint> some = thinned(points, kLabelsMax);
  for (std::size_t i = 0; i < some.size(); ++i) {
    const double x = axis_.x(some[i].at);
    const double left = i == 0 ? kPictureLeft : (axis_.x(some[i - 1].at) + x) / 2;
    const double right = i + 1 == some.size() ? x + 6 : (axis_.x(some[i + 1].at) + x) / 2;
    inside_ += fmt::format(
        "<g class=hit><title>{}</title><rect x={:.1f} y={:.0f} width={:.1f} height={:.0f} />"
        "<circle cx={:.1f} cy={:.1f} r=3.5 /></g>",
        escaped(some[i].label), left, kTop, std::max(1.0, right - left), kBottom - kTop, x,
        y(some[i].value));
  }
}

std::string Chart::svg(std::string_view label) const {
  std::string axes = axis_.marks(kTop, kBottom);
  for (const Tick& tick : values_) {
    axes += fmt::format("<line class=axis x1={0:.0f} x2={1:.0f} y1={2:.1f} y2={2:.1f} />",
                        kPictureLeft, kPictureWidth - kRight, y(tick.at));
    axes += fmt::format("<text x={:.0f} y={:.1f} text-anchor=end>{}</text>", kPictureLeft - 8,
                        y(tick.at) + 4, tick.label);
  }
  // A picture in the picture, so that nothing leaves the axes. The margins are for wide lines.
  const std::string plot = fmt::format(
      "<svg x={0:.0f} y={1:.0f} width={2:.0f} height={3:.0f} "
      "viewBox=\"{0:.0f} {1:.0f} {2:.0f} {3:.0f}\">{4}</svg>",
      kPictureLeft, kTop - 4, kPictureWidth - kPictureLeft - kRight + 8, kBottom - kTop + 8,
      inside_);
  return picture(kBottom + 26, axes + plot, label);
}

std::string picture(double height, const std::string& inside, std::string_view label) {
  return fmt::format(
      "<svg class=chart viewBox=\"0 0 {:.0f} {:.0f}\" role=img aria-label=\"{}\">{}</svg>",
      kPictureWidth, height, escaped(label), inside);
}

std::string legend(const std::vector<LegendKey>& keys) {
  std::string items;
  for (const LegendKey& key : keys) {
    items += fmt::format("<li><i style=\"{}\">{}</i>{}", key.style, key.mark, escaped(key.meaning));
  }
  return "<ul class=legend>" + items + "</ul>";
}

}  // namespace stint::cli
