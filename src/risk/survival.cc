#include "risk/survival.h"

#include <algorithm>
#include <cmath>

#include "base/normal.h"

namespace stint {

Seconds middle_age(const Lifetime& lifetime) {
  return lifetime.at_most ? (lifetime.at_least + *lifetime.at_most) / 2 : lifetime.at_least;
}

bool is_known(const Lifetime& lifetime) {
  return lifetime.at_most || lifetime.at_least > Seconds();
}

KaplanMeier::KaplanMeier(std::span<const Lifetime> lifetimes) {
  struct End {
    Seconds age;
    bool lost = false;
  };
  std::vector<End> ends;
  for (const Lifetime& it : lifetimes) {
    if (!is_known(it)) continue;
    ends.push_back({middle_age(it), it.at_most.has_value()});
    watched_ = std::max(watched_, ends.back().age);
    losses_ += it.at_most ? 1 : 0;
  }
  machines_ = static_cast<int>(ends.size());
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.age < b.age; });
  Step step;
  for (std::size_t i = 0; i < ends.size();) {
    std::size_t next = i;
    double lost = 0;
    for (; next < ends.size() && ends[next].age == ends[i].age; ++next) lost += ends[next].lost;
    const auto at_risk = static_cast<double>(ends.size() - i);
    if (lost > 0) {
      step.age = ends[i].age;
      step.share *= 1 - lost / at_risk;
      if (lost < at_risk) step.variance += lost / (at_risk * (at_risk - lost));
      steps_.push_back(step);
    }
    i = next;
  }
}

std::optional<SurvivalShare> KaplanMeier::at(Seconds age) const {
  const auto next = std::upper_bound(steps_.begin(), steps_.end(), age,
                                     [](Seconds at, const Step& it) { return at < it.age; });
  const Step now = next == steps_.begin() ? Step() : *std::prev(next);
  if (machines_ == 0 || (age > watched_ && now.share > 0)) return std::nullopt;
  if (now.share <= 0) return SurvivalShare{.share = 0, .low = 0, .high = 0};
  if (now.share >= 1) return SurvivalShare{};
  constexpr double kTail = 0.975;  // Of a two-sided interval of 95 %.
  const double log_share = std::log(now.share);
  const double width = normal_quantile(kTail) * std::sqrt(now.variance) / -log_share;
  return SurvivalShare{.share = now.share,
                       .low = std::exp(log_share * std::exp(width)),
                       .high = std::exp(log_share * std::exp(-width))};
}

}  // namespace stint
