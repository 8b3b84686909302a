#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace stint::cli {

/// `text` for HTML, whoever wrote it.
std::string escaped(std::string_view text);

/// A mark of an axis.
struct Tick {
  double at = 0;
  std::string label;
};

/// Marks at round numbers that cover the values from `low` to `high`: the first is not above `low`,
/// the last not below `high`. Labels have the decimals that the marks need, after `prefix`.
/// Requires low <= high, and that high - low is finite.
std::vector<Tick> value_ticks(double low, double high, std::string_view prefix = "");

/// Marks at round times from 0 to at most `until`, in seconds, all in one unit.
std::vector<Tick> time_ticks(Seconds until);

/// A point of a chart, and what a pointer above it is told.
struct ChartPoint {
  Seconds at;
  double value = 0;
  std::string label = {};
};

/// The time axis that all charts of a page share.
class TimeAxis {
 public:
  explicit TimeAxis(Seconds until);

  /// In the units of a chart; beyond its right edge for times after the end.
  double x(Seconds at) const;
  Seconds until() const { return until_; }

  /// Lines and labels from `top` to `bottom`.
  std::string marks(double top, double bottom) const;

 private:
  Seconds until_;
};

/// Curves of values over time as SVG. What lies outside of the axes is cut off.
class Chart {
 public:
  /// The first and the last of `values` are the ends of its axis; there are at least two.
  Chart(const TimeAxis& axis, std::vector<Tick> values);

  /// The area between two curves.
  void add_band(const std::vector<ChartPoint>& low, const std::vector<ChartPoint>& high,
                std::string_view colour);

  /// A curve, thinned to what can be seen. `style` has its other attributes.
  void add_curve(const std::vector<ChartPoint>& points, std::string_view colour,
                 std::string_view style = "");

  /// Shows the labels of points, thinned, under a pointer above them.
  void add_labels(const std::vector<ChartPoint>& points);

  /// The chart; `label` says what it shows to those who do not see it.
  std::string svg(std::string_view label) const;

 private:
  double y(double value) const;

  TimeAxis axis_;
  std::vector<Tick> values_;
  std::string inside_;
};

/// A picture of the width of a chart.
std::string picture(double height, const std::string& inside, std::string_view label);

/// Where the time axis of a picture begins, and how wide a picture is.
inline constexpr double kPictureLeft = 84;
inline constexpr double kPictureWidth = 720;

/// What a colour, a line or a mark means.
struct LegendKey {
  std::string style;  // CSS of its sample.
  std::string meaning;
  std::string mark = {};  // In the sample.
};

/// To be put above a picture.
std::string legend(const std::vector<LegendKey>& keys);

}  // namespace stint::cli
