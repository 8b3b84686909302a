#include "risk/hazard.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
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
  constexpr double kTail = 0.975;  // For a two-sided interval of 95 %.
  const double log_share = std::log(now.share);
  const double width = normal_quantile(kTail) * std::sqrt(now.variance) / -log_share;
  return SurvivalShare{.share = now.share,
                       .low = std::exp(log_share * std::exp(width)),
                       .high = std::exp(log_share * std::exp(-width))};
}

Hazard Hazard::constant(PerSecond rate) { return Hazard({{Seconds(), rate}}); }

Hazard::Hazard(std::vector<HazardStep> steps) : steps_(std::move(steps)) {
  CHECK(!steps_.empty() && steps_.front().from == Seconds());
  double sum = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    CHECK(steps_[i].rate >= PerSecond());
    if (i > 0) {
      CHECK(steps_[i].from > steps_[i - 1].from);
      sum += steps_[i - 1].rate * (steps_[i].from - steps_[i - 1].from);
    }
    cumulative_.push_back(sum);
  }
}

PerSecond Hazard::rate(Seconds age) const {
  const auto next = std::upper_bound(steps_.begin(), steps_.end(), age,
                                     [](Seconds at, const HazardStep& it) { return at < it.from; });
  return next == steps_.begin() ? steps_.front().rate : std::prev(next)->rate;
}

double Hazard::cumulative(Seconds age) const {
  const auto next = std::upper_bound(steps_.begin(), steps_.end(), age,
                                     [](Seconds at, const HazardStep& it) { return at < it.from; });
  if (next == steps_.begin()) return 0;
  const std::size_t i = static_cast<std::size_t>(next - steps_.begin()) - 1;
  return cumulative_[i] + steps_[i].rate * (age - steps_[i].from);
}

double Hazard::survival(Seconds age) const { return std::exp(-cumulative(age)); }

double Hazard::survival_from(Seconds age, Seconds more) const {
  return std::exp(cumulative(age) - cumulative(age + more));
}

Seconds Hazard::age_at(double amount) const {
  const auto next = std::upper_bound(cumulative_.begin(), cumulative_.end(), amount);
  const std::size_t i =
      next == cumulative_.begin() ? 0 : static_cast<std::size_t>(next - cumulative_.begin()) - 1;
  if (steps_[i].rate == PerSecond()) {
    return amount <= cumulative_[i] ? steps_[i].from
                                    : std::numeric_limits<double>::infinity() * kSecond;
  }
  return steps_[i].from + (amount - cumulative_[i]) / steps_[i].rate;
}

Seconds Hazard::mean_until(Seconds limit) const {
  Seconds mean;
  for (std::size_t i = 0; i < steps_.size() && steps_[i].from < limit; ++i) {
    const Seconds end = i + 1 < steps_.size() ? std::min(limit, steps_[i + 1].from) : limit;
    const Seconds width = end - steps_[i].from;
    const double alive = std::exp(-cumulative_[i]);
    const double lost = steps_[i].rate * width;
    // ∫ e^(−rt) dt over the step; by its series where the rate is nearly zero.
    mean += alive * (lost > 1e-9 ? width * (-std::expm1(-lost) / lost) : width);
  }
  return mean;
}

}  // namespace stint
