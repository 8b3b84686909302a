#include "calibrate/sharded/layout_choice.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace stint {
namespace {

double parts_of(const LayoutOption& option) {
  const ParallelLayout& layout = option.it->row.layout;
  return static_cast<double>(layout.tensor) * layout.pipeline;
}

Seconds time_of_option(const LayoutOption& option) { return *option.it->row.time; }

const LayoutOption& chosen(LayoutPolicy policy, std::vector<LayoutOption>& options) {
  switch (policy) {
    case LayoutPolicy::kStint:
      return *std::min_element(options.begin(), options.end(),
                               [](const LayoutOption& a, const LayoutOption& b) {
                                 if (a.predicted.has_value() != b.predicted.has_value())
                                   return a.predicted.has_value();
                                 return a.predicted && *a.predicted < *b.predicted;
                               });
    case LayoutPolicy::kLeastParallel:
      return *std::min_element(options.begin(), options.end(),
                               [](const LayoutOption& a, const LayoutOption& b) {
                                 if (parts_of(a) != parts_of(b)) return parts_of(a) < parts_of(b);
                                 return a.it->row.layout.micro_batch > b.it->row.layout.micro_batch;
                               });
    case LayoutPolicy::kMedian:
      std::sort(options.begin(), options.end(), [](const LayoutOption& a, const LayoutOption& b) {
        return time_of_option(a) < time_of_option(b);
      });
      return options[options.size() / 2];
  }
  CHECK(false);
  return options.front();
}

}  // namespace

std::span<const EnumName<LayoutPolicy>> names_of(LayoutPolicy /*type*/) {
  static constexpr EnumName<LayoutPolicy> kNames[] = {
      {LayoutPolicy::kStint, "stint"},
      {LayoutPolicy::kLeastParallel, "least-model-parallelism"},
      {LayoutPolicy::kMedian, "median-layout"}};
  return kNames;
}

std::optional<double> layout_regret(LayoutPolicy policy, std::span<const LayoutOption> options) {
  std::vector<LayoutOption> measured;
  std::copy_if(options.begin(), options.end(), std::back_inserter(measured),
               [](const LayoutOption& it) { return is_measured(*it.it); });
  if (measured.size() < 2) return std::nullopt;
  const auto best = std::min_element(measured.begin(), measured.end(),
                                     [](const LayoutOption& a, const LayoutOption& b) {
                                       return time_of_option(a) < time_of_option(b);
                                     });
  const Seconds least = time_of_option(*best);
  const LayoutOption& choice = chosen(policy, measured);
  if (policy == LayoutPolicy::kStint && !choice.predicted) return std::nullopt;
  return time_of_option(choice) / least - 1;
}

LayoutScore layout_score(std::span<const double> regrets) {
  if (regrets.empty()) return {};
  const auto count = static_cast<double>(regrets.size());
  const auto first =
      std::count_if(regrets.begin(), regrets.end(), [](double it) { return it <= 0; });
  return {.n = static_cast<int>(regrets.size()),
          .mean_regret = std::accumulate(regrets.begin(), regrets.end(), 0.0) / count,
          .worst_regret = *std::max_element(regrets.begin(), regrets.end()),
          .top1 = static_cast<double>(first) / count};
}

LayoutScores score_layouts(LayoutPolicy policy, std::span<const LayoutOption> options) {
  std::map<std::string, std::vector<LayoutOption>> choices;
  for (const LayoutOption& it : options) {
    if (!it.it->row.choice.empty()) choices[it.it->row.choice].push_back(it);
  }
  std::vector<double> all;
  std::map<std::string, std::vector<double>> groups;
  for (const auto& [name, its] : choices) {
    const auto regret = layout_regret(policy, its);
    if (!regret) continue;
    all.push_back(*regret);
    groups[its.front().it->row.job].push_back(*regret);
  }
  LayoutScores scores{.overall = layout_score(all), .groups = {}};
  for (const auto& [name, regrets] : groups) scores.groups[name] = layout_score(regrets);
  return scores;
}

}  // namespace stint
