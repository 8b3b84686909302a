#include "risk/loss_count.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace stint {
namespace {

// Times from ten seconds to thirty years.
constexpr double kFirst = 10;
constexpr double kFactor = 1.15;
constexpr int kTimes = 130;

/// The grid: zero, kFirst, and so on by kFactor.
const std::array<double, kTimes>& grid() {
  static const std::array<double, kTimes> times = [] {
    std::array<double, kTimes> made{0, kFirst};
    for (std::size_t i = 2; i < made.size(); ++i) made[i] = made[i - 1] * kFactor;
    return made;
  }();
  return times;
}

double time_at(int index) { return grid()[static_cast<std::size_t>(index)]; }

double between(const std::vector<double>& values, double time) {
  if (time <= kFirst) return values[0] + (values[1] - values[0]) * time / kFirst;
  static const double per_log = 1 / std::log(kFactor);
  const double place = 1 + per_log * std::log(time / kFirst);
  const auto last = static_cast<double>(values.size() - 2);
  const int index = static_cast<int>(std::min(std::floor(place), last));
  const double from = time_at(index);
  const double share = (time - from) / (time_at(index + 1) - from);
  const auto at = static_cast<std::size_t>(index);
  return values[at] + share * (values[at + 1] - values[at]);  // The last slope goes on.
}

}  // namespace

LossCount::LossCount(const Hazard& hazard, const Vacancy& vacancy)
    : constant_(hazard.steps().size() == 1),
      rate_(hazard.rate({}).in(1 / kSecond)),
      share_(vacancy.mean > Seconds{} ? vacancy.share : 0),
      vacant_(vacancy.mean.in(kSecond)) {
  CHECK(vacancy.share >= 0 && vacancy.share <= 1);
  if (constant_) {
    rate_min_ = rate_ / (1 + rate_ * share_ * vacant_) / kSecond;
    return;
  }
  solve(hazard);
  rate_min_ = (counts_.back() - counts_[counts_.size() - 2]) /
              (time_at(kTimes - 1) - time_at(kTimes - 2)) / kSecond;
  for (int j = 1; j < kTimes; ++j) {
    rate_min_ = std::min(rate_min_, counts_[static_cast<std::size_t>(j)] / time_at(j) / kSecond);
  }
}

double LossCount::exact(double time) const {
  if (rate_ <= 0 || share_ <= 0) return rate_ * time;
  const double lost = share_ * rate_;
  const double both = lost + 1 / vacant_;
  return rate_ * (time / (vacant_ * both) - lost * std::expm1(-both * time) / (both * both));
}

/// With a = (1 − p) m + p c and c the mean of m after an exponential vacancy, c' = (m − c)/θ, the
/// value at each new time enters its own equation linearly.
void LossCount::solve(const Hazard& hazard) {
  counts_.assign(1, 0);
  std::vector<double> after(1, 0);   // a
  std::vector<double> lagged(1, 0);  // c
  std::vector<double> dead(1, 0);    // F
  for (int j = 1; j < kTimes; ++j) {
    const double now = time_at(j);
    const double width = now - time_at(j - 1);
    dead.push_back(1 - hazard.survival(now * kSecond));
    // c at the new time is kept · c + early · m before + late · m now, m being linear between.
    const double steps = share_ > 0 ? width / vacant_ : 1;
    const double kept = std::exp(-steps);
    const double late = 1 - (1 - kept) / steps;
    const double early = (1 - kept) / steps - kept;
    const double lag = kept * lagged.back() + early * counts_.back();
    double known = dead.back();
    double weight = 0;  // Of a at the new time.
    for (int i = 0; i < j; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double died = dead[at + 1] - dead[at];
      const double left = now - (time_at(i) + time_at(i + 1)) / 2;
      if (left <= time_at(j - 1)) {
        known += died * between(after, left);
        continue;
      }
      const double share = (left - time_at(j - 1)) / width;
      known += died * (1 - share) * after.back();
      weight += died * share;
    }
    const double own = 1 - share_ + share_ * late;  // a now = own · m now + share · lag.
    const double count = (known + weight * share_ * lag) / (1 - weight * own);
    counts_.push_back(std::max(count, counts_.back()));
    lagged.push_back(lag + late * counts_.back());
    after.push_back((1 - share_) * counts_.back() + share_ * lagged.back());
  }
}

double LossCount::in(Seconds time) const {
  const double seconds = time.in(kSecond);
  return constant_ ? exact(seconds) : between(counts_, seconds);
}

bool LossCount::never_more(const LossCount& other) const {
  if (constant_ && other.constant_ && share_ == other.share_ && vacant_ == other.vacant_) {
    return rate_ <= other.rate_;
  }
  for (int j = 1; j < kTimes; ++j) {
    if (in(time_at(j) * kSecond) > other.in(time_at(j) * kSecond)) return false;
  }
  return true;
}

}  // namespace stint
