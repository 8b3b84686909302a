#include "cli/render/render_front.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "app/plan/plan_cases.h"
#include "base/text.h"
#include "cli/render/figures.h"

namespace stint::cli {
namespace {

constexpr int kRows = 11;  // With the axis and two lines of words: 14.
constexpr int kColumns = 60;

/// Where values lie on an axis of `cells` cells.
struct Axis {
  double low = 1;
  double high = 1;
  int cells = 1;

  std::size_t cell(double value) const {
    const double along = std::log(value / low) / std::log(high / low);
    return static_cast<std::size_t>(std::lround(std::clamp(along, 0.0, 1.0) * (cells - 1)));
  }
};

template <class Value>
Axis axis_of(const std::vector<Plan>& front, int cells, Value value) {
  Axis axis{.low = value(front[0]), .high = value(front[0]), .cells = cells};
  for (const Plan& plan : front) {
    axis.low = std::min(axis.low, value(plan));
    axis.high = std::max(axis.high, value(plan));
  }
  return axis;
}

double cost_of(const Plan& plan) { return plan.cost.mean.in(kDollar); }
double time_of(const Plan& plan) { return plan.time.mean.in(kHour); }

bool can_be_drawn(const Axis& axis) { return axis.low > 0 && axis.high > axis.low * (1 + 1e-9); }

/// The points, top row first. The knee is drawn last, so that nothing hides it.
std::vector<std::string> points(const std::vector<Plan>& front, const Axis& cost,
                                const Axis& time) {
  std::vector<std::string> rows(kRows, std::string(static_cast<std::size_t>(time.cells), ' '));
  for (const bool knee : {false, true}) {
    for (const Plan& plan : front) {
      if (is_knee(plan) != knee) continue;
      const std::size_t row = kRows - 1 - cost.cell(cost_of(plan));
      rows[row][time.cell(time_of(plan))] = knee ? 'K' : 'o';
    }
  }
  return rows;
}

std::string trimmed_line(const std::string& line) {
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string front_picture(const std::vector<Plan>& front, const Terminal& terminal) {
  if (front.size() < 2) return "";
  const Axis cost = axis_of(front, kRows, cost_of);
  const std::string top = dollars(cost.high * kDollar);
  const std::string bottom = dollars(cost.low * kDollar);
  const int label = std::max(display_width(top), display_width(bottom)) + 1;
  const int width = terminal.width > 0 ? std::min(terminal.width, kColumns) : kColumns;
  const Axis time = axis_of(front, width - label - 2, time_of);
  if (!can_be_drawn(cost) || !can_be_drawn(time) || time.cells < 2) return "";

  const std::vector<std::string> rows = points(front, cost, time);
  std::string text = fmt::format("{:>{}} cost\n", "", label);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string at = row == 0 ? top : row + 1 == rows.size() ? bottom : "";
    text += trimmed_line(fmt::format("{:>{}} |{}", at, label, rows[row]));
  }
  text += fmt::format("{:>{}} +{:->{}}\n", "", label, "", time.cells);
  const std::string left = hours(time.low * kHour);
  const std::string right = hours(time.high * kHour) + " time";
  const int gap = std::max(2, time.cells - static_cast<int>(left.size()));
  return text + fmt::format("{:>{}}  {}{:>{}}\n", "", label, left, right, gap);
}

}  // namespace stint::cli
