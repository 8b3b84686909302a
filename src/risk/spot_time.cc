#include "risk/spot_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/normal.h"

namespace stint {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kExponentMax = 300;  // e to this power is far from the largest number.
constexpr int kNewtonSteps = 4;       // From Young's interval, to a thousandth.

/// The run's figures in plain seconds, because this file is evaluated tens of thousands of times.
struct Figures {
  double work;
  double rate;
  double without;
  double stall;
  double transfer;
  double recovery;
  double recovery_square;  // E R².
};

Figures figures_of(const SpotRun& run) {
  CHECK(run.work > Seconds());
  CHECK(run.loss_rate >= PerSecond());
  CHECK(run.without_notice >= 0);
  CHECK(run.without_notice <= 1);
  CHECK(run.stall >= Seconds());
  CHECK(run.transfer >= Seconds());
  const double mean = run.recovery.mean.in(kSecond);
  const double deviation = run.recovery.deviation.in(kSecond);
  return {.work = run.work.in(kSecond),
          .rate = run.loss_rate.in(1 / kSecond),
          .without = run.without_notice,
          .stall = run.stall.in(kSecond),
          .transfer = run.transfer.in(kSecond),
          .recovery = mean,
          .recovery_square = mean * mean + deviation * deviation};
}

double square(double x) { return x * x; }

/// (x/(1 + x) − ln(1 + x)) / x², by its series where it would cancel.
double log_remainder(double x) {
  if (x < 1e-3) return -0.5 + x * (2.0 / 3 - x * (0.75 - 0.8 * x));
  return (x / (1 + x) - std::log1p(x)) / (x * x);
}

/// Losses, time at work and variance of a segment.
struct Moments {
  double losses = 0;
  double working = 0;
  double variance = 0;
};

/// g by u = e^{Λℓ} − 1.
double losses_by(const Figures& run, double more) {
  const double notice = 1 - run.without;
  return notice > 0 ? std::log1p(notice * more) / notice : more;
}

double losses_in(const Figures& run, double length) {
  if (length <= 0) return 0;
  if (run.rate * length > kExponentMax) return kInfinity;
  return losses_by(run, std::expm1(run.rate * length));
}

Moments segment(const Figures& run, double length) {
  if (run.rate <= 0 || length <= 0) return {.losses = 0, .working = length, .variance = 0};
  if (run.rate * length > kExponentMax) return {kInfinity, kInfinity, kInfinity};
  const double more = std::expm1(run.rate * length);
  const double x = (1 - run.without) * more;
  const double losses = losses_by(run, more);
  const double cycle = 1 / run.rate + run.recovery;
  const double bracket = losses / run.rate - length * (1 + more) / (1 + x) -
                         run.without * cycle * more * more * log_remainder(x);
  const double variance = run.recovery_square * losses + 2 * cycle * bracket;
  return {.losses = losses, .working = losses / run.rate, .variance = std::max(0.0, variance)};
}

/// `saves` segments with a checkpoint, and the last one without.
SpotTime time_of(const SpotRun& run, const Figures& figures, double interval, double saves) {
  const Moments last = segment(figures, figures.work - saves * interval);
  Moments sum = last;
  if (saves > 0) {
    const Moments whole = segment(figures, interval + figures.stall + figures.transfer);
    if (whole.losses == kInfinity) {
      sum = whole;
    } else {
      const Moments ahead = segment(figures, figures.transfer);
      sum.losses += saves * (whole.losses - ahead.losses);
      sum.working += saves * (whole.working - ahead.working);
      sum.variance += saves * std::max(0.0, whole.variance - ahead.variance);
    }
  }
  const double stalls = saves * figures.stall;
  const double start = run.start_up.deviation.in(kSecond);
  SpotTime time{.interval = saves > 0 ? interval * kSecond : run.work,
                .losses = sum.losses,
                .useful = run.work,
                .saving = stalls * kSecond,
                .redone = std::max(0.0, sum.working - figures.work - stalls) * kSecond,
                .starting = run.start_up.mean + sum.losses * run.recovery.mean,
                .p_undisturbed = std::exp(-figures.rate * (figures.work + stalls)),
                .start_up = run.start_up};
  if (sum.losses == kInfinity) time.starting = kInfinity * kSecond;  // Even without a recovery.
  time.mean = time.useful + time.saving + time.redone + time.starting;
  time.deviation = std::sqrt(sum.variance + start * start) * kSecond;
  return time;
}

/// The interval that adds the fewest losses per unit of work, by Newton's method.
double lasting_interval(const Figures& run, double ahead) {
  double interval = std::sqrt(2 * run.stall / (run.rate * run.without));
  for (int i = 0; i < kNewtonSteps; ++i) {
    const double length = interval + run.stall + run.transfer;
    if (run.rate * length > kExponentMax) {
      interval /= 4;
      continue;
    }
    const double more = std::expm1(run.rate * length);
    const double below = 1 + (1 - run.without) * more;
    const double slope = run.rate * (1 + more) / below;
    const double bend = slope * run.rate * run.without / below;
    const double excess = interval * slope - (losses_by(run, more) - ahead);
    interval = std::clamp(interval - excess / (interval * bend), interval / 4, interval * 4);
  }
  return interval;
}

/// P(a lognormal time of these moments is at most `limit`).
double lognormal_within(double mean, double variance, double limit) {
  if (limit <= 0) return mean <= 0 && limit >= 0 ? 1 : 0;
  if (mean <= 0) return 1;
  const double spread = std::log1p(variance / (mean * mean));
  if (spread <= 0) return limit >= mean ? 1 : 0;
  return normal_distribution((std::log(limit / mean) + spread / 2) / std::sqrt(spread));
}

/// The time beyond the shortest, given that there was a loss: its moments are those of all runs,
/// in which it is zero with the chance of no loss.
struct Excess {
  double mean = 0;
  double variance = 0;
};

Excess excess_of(const SpotTime& time) {
  const double p_loss = 1 - time.p_undisturbed;
  const double all = (time.redone + time.starting - time.start_up.mean).in(kSecond);
  const double variance =
      square(time.deviation.in(kSecond)) - square(time.start_up.deviation.in(kSecond));
  const double mean = all / p_loss;
  return {mean, std::max(0.0, (variance + square(all)) / p_loss - square(mean))};
}

/// The middles of equally likely parts of a standard normal.
constexpr int kScores = 16;
const std::array<double, kScores>& middle_scores() {
  static const std::array<double, kScores> scores = [] {
    std::array<double, kScores> made{};
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = normal_quantile((static_cast<double>(i) + 0.5) / kScores);
    }
    return made;
  }();
  return scores;
}

}  // namespace

SpotTime spot_time(const SpotRun& run, Seconds interval) {
  const Figures figures = figures_of(run);
  CHECK(interval > Seconds());
  CHECK(interval >= run.transfer);
  const double tau = interval.in(kSecond);
  // Slightly less, so that work of whole intervals does not gain one by rounding.
  const double parts = (figures.work - figures.transfer) / tau * (1 - 1e-12);
  return time_of(run, figures, tau, std::max(0.0, std::ceil(parts) - 1));
}

SpotTime best_spot_time(const SpotRun& run) {
  const Figures figures = figures_of(run);
  const double span = figures.work - figures.transfer;
  if (figures.rate <= 0 || figures.without <= 0 || span <= 0) {
    return time_of(run, figures, figures.work, 0);
  }
  // Checkpoints without a cost are made as often as possible, within reason.
  const double least = std::max(figures.transfer, 1e-4 * figures.work);
  const double parts_max = std::floor(span / least);
  const double ahead = losses_in(figures, figures.transfer);
  const double wanted = figures.stall > 0 ? span / lasting_interval(figures, ahead) : parts_max;
  const double parts = std::clamp(std::floor(wanted), 1.0, std::max(1.0, parts_max));
  // The mean is proportional to the expected losses, so that these decide.
  double best_parts = 1;
  double best_losses = losses_in(figures, figures.work);
  for (const double count : {parts, parts + 1}) {
    if (count < 2 || count > parts_max) continue;
    const double whole = losses_in(figures, span / count + figures.stall + figures.transfer);
    const double last = losses_in(figures, span / count + figures.transfer);
    const double losses = (count - 1) * (whole - ahead) + last;
    if (losses < best_losses) {
      best_losses = losses;
      best_parts = count;
    }
  }
  return time_of(run, figures, span / best_parts, best_parts - 1);
}

double SpotTime::probability_within(Seconds limit) const {
  if (mean == kInfinity * kSecond) return 0;
  const double left = (limit - useful - saving).in(kSecond);
  const double start = start_up.mean.in(kSecond);
  const double start_variance = square(start_up.deviation.in(kSecond));
  const double calm = lognormal_within(start, start_variance, left);
  const double p_loss = 1 - p_undisturbed;
  if (p_loss <= 0) return calm;
  const Excess excess = excess_of(*this);
  return p_undisturbed * calm +
         p_loss * lognormal_within(start + excess.mean, start_variance + excess.variance, left);
}

double SpotTime::probability_within(Seconds limit, double work_deviation) const {
  if (work_deviation <= 0) return probability_within(limit);
  if (mean == kInfinity * kSecond) return 0;
  const double left = (limit - start_up.mean).in(kSecond);
  const double shortest = (useful + saving).in(kSecond);
  const auto done_in = [&](double time) {
    return time <= 0 ? 0 : normal_distribution(std::log(time / shortest) / work_deviation);
  };
  const double calm = done_in(left);
  const double p_loss = 1 - p_undisturbed;
  if (p_loss <= 0 || calm <= 0) return calm;
  const Excess excess = excess_of(*this);
  const double spread = std::sqrt(std::log1p(excess.variance / square(excess.mean)));
  const double median = excess.mean * std::exp(-spread * spread / 2);
  double disturbed = 0;
  for (const double score : middle_scores()) {
    disturbed += done_in(left - median * std::exp(spread * score)) / kScores;
  }
  return p_undisturbed * calm + p_loss * disturbed;
}

Seconds SpotTime::quantile(double probability, double work_deviation) const {
  if (mean == kInfinity * kSecond) return mean;
  Seconds low = 0 * kSecond;
  Seconds high = mean;
  // Near a probability of one its rounding may never be passed.
  constexpr int kDoublingsMax = 100;
  for (int i = 0; i < kDoublingsMax && probability_within(high, work_deviation) < probability;
       ++i) {
    high += high;
  }
  for (int i = 0; i < 50; ++i) {
    const Seconds middle = (low + high) / 2;
    (probability_within(middle, work_deviation) < probability ? low : high) = middle;
  }
  return high;
}

}  // namespace stint
