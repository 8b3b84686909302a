#include "cli/render/render_compared.h"

#include <fmt/format.h>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/render/plan_table.h"
#include "cli/render/render_plan.h"

namespace stint::cli {
namespace {

/// "a", "b", … "z", then "27".
std::string label_of(std::size_t index) {
  constexpr std::size_t kLetters = 26;
  if (index >= kLetters) return std::to_string(index + 1);
  return std::string(1, static_cast<char>('a' + static_cast<int>(index)));
}

/// "costs $12.3 more (31 %) and takes 2.10 h less (10 %) than plan 1".
std::string difference_text(const ComparedPlan& it) {
  const Plan& plan = *it.plan;
  if (!it.dearer || !it.longer) {
    return fmt::format("costs {} and takes {}", dollars(plan.cost.mean), hours(plan.time.mean));
  }
  // Shares are of plan 1.
  const double dearer = *it.dearer / (plan.cost.mean - *it.dearer);
  const double longer = *it.longer / (plan.time.mean - *it.longer);
  const auto word = [](double share) { return share < 0 ? "less" : "more"; };
  const Dollars cost = dearer < 0 ? -*it.dearer : *it.dearer;
  const Seconds time = longer < 0 ? -*it.longer : *it.longer;
  return fmt::format("costs {} {} ({}) and takes {} {} ({}) than plan 1", dollars(cost),
                     word(dearer), percent(dearer < 0 ? -dearer : dearer), hours(time),
                     word(longer), percent(longer < 0 ? -longer : longer));
}

}  // namespace

std::string compared_sheet(const PlanAnswer& answer, const Terminal& terminal) {
  std::vector<Plan> plans;
  std::vector<std::string> labels;
  std::string lines;
  for (std::size_t i = 0; i < answer.compared.size(); ++i) {
    const ComparedPlan& it = answer.compared[i];
    const std::string label = lines.empty() ? "compared" : "";
    if (!it.plan) {
      lines += sheet_line(label, fmt::format("{}.", it.problem.value_or(it.cluster)), terminal);
      continue;
    }
    plans.push_back(*it.plan);
    labels.push_back(label_of(i));
    lines += sheet_line(
        label, fmt::format("{}: {} {}.", labels.back(), it.cluster, difference_text(it)), terminal);
  }
  if (plans.empty()) return lines;
  return plan_table(plans, terminal, labels) + "\n" + lines;
}

}  // namespace stint::cli
