#include "risk/checkpoint_schedule.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "base/check.h"

namespace stint {
namespace {

// Number of cells of Young's interval, and least number of cells of the horizon: the waste is flat
// around its minimum, and a twelfth of an interval costs less than a thousandth of the waste.
constexpr double kCellsPerInterval = 24;
constexpr double kCellsMin = 200;
constexpr double kCellsMax = 20000;
constexpr std::size_t kWindow = 800;   // Cells in which the next checkpoint is searched.
constexpr double kHazardReached = 14;  // One gang in a million lives longer.
constexpr int kIntervalsTried = 400;   // Candidates for the best constant interval.
// No gang in double precision lives longer: checkpoints after that change no figure.
constexpr double kHazardMax = 40;
constexpr double kConstantMax = 1e6;  // Checkpoints of a constant interval that are evaluated.

constexpr double kExponentMax = 300;  // e to this power is far from the largest number.

/// P(alive), and the expected time alive, at an age.
struct Moment {
  Seconds age;
  double survival = 1;
  Seconds alive;
};

/// Hazard::survival and Hazard::mean_until, with the sums of whole steps kept.
class Exposure {
 public:
  explicit Exposure(const Hazard& hazard) : hazard_(hazard) {
    for (const HazardStep& step : hazard.steps()) alive_.push_back(hazard.mean_until(step.from));
  }

  Moment at(Seconds age) const {
    const std::vector<HazardStep>& steps = hazard_.steps();
    const auto next =
        std::upper_bound(steps.begin(), steps.end(), age,
                         [](Seconds at, const HazardStep& step) { return at < step.from; });
    CHECK(next != steps.begin());
    const std::size_t i = static_cast<std::size_t>(next - steps.begin()) - 1;
    const Seconds width = age - steps[i].from;
    const double lost = steps[i].rate * width;
    const double survival = hazard_.survival(age);
    // ∫ e^(−rt) dt over the rest of the step, from its end.
    if (lost > kExponentMax) {
      const double before = hazard_.survival(steps[i].from);
      return {.age = age, .survival = survival, .alive = alive_[i] + before / lost * width};
    }
    const Seconds rest = lost > 1e-9 ? width * (std::expm1(lost) / lost) : width;
    return {.age = age, .survival = survival, .alive = alive_[i] + survival * rest};
  }

 private:
  const Hazard& hazard_;
  std::vector<Seconds> alive_;
};

/// A checkpoint by the times at which it begins, training continues, and it is safe.
struct Save {
  Moment begin;
  Moment resume;
  Moment safe;
};

Save save_at(const Exposure& exposure, const SaveCost& save, Seconds age) {
  return {exposure.at(age), exposure.at(age + save.stall), exposure.at(age + save.until_safe())};
}

/// The state at the start of a gang is safe.
Save start_of(const Exposure& exposure) {
  const Moment birth = exposure.at(Seconds());
  return {birth, birth, birth};
}

/// ∫ (s − origin) f(s) ds between two moments, by parts.
Seconds work_lost(const Moment& from, const Moment& to, Seconds origin) {
  return (from.age - origin) * from.survival - (to.age - origin) * to.survival + to.alive -
         from.alive;
}

Seconds stalled_in(const Save& save) { return save.resume.alive - save.begin.alive; }

Seconds redone_between(const Save& last, const Save& next) {
  const Seconds stall = next.resume.age - next.begin.age;
  const Seconds in_stall =
      (next.begin.age - last.resume.age) * (next.begin.survival - next.resume.survival);
  return work_lost(last.safe, next.begin, last.resume.age) + in_stall +
         work_lost(next.resume, next.safe, last.resume.age + stall);
}

Seconds redone_until_end(const Save& last, const Moment& end) {
  return work_lost(last.safe, end, last.resume.age);
}

void check(const SpotGang& gang, const SaveCost& save) {
  CHECK(gang.horizon > Seconds());
  CHECK(gang.without_notice >= 0);
  CHECK(gang.without_notice <= 1);
  CHECK(save.stall >= Seconds());
  CHECK(save.transfer >= Seconds());
}

Seconds mean_between_losses(const SpotGang& gang) {
  const double lost = gang.without_notice * (1 - gang.hazard.survival(gang.horizon));
  return gang.hazard.mean_until(gang.horizon) / lost;
}

/// Ages with smaller distances where the hazard is high, as the checkpoints will have; up to the
/// horizon or an age that hardly any gang reaches.
std::vector<Seconds> fine_grid(const SpotGang& gang, const SaveCost& save) {
  const Seconds reached = std::min(gang.horizon, gang.hazard.age_at(kHazardReached));
  const Seconds stall = std::max(save.stall, 1e-6 * reached);
  const PerSecond even = kCellsMin / reached;
  const auto density = [&](PerSecond rate) {
    const double losses = 0.5 * gang.without_notice * (rate * stall);
    return kCellsPerInterval * std::sqrt(losses) / stall + even;
  };
  const std::vector<HazardStep>& steps = gang.hazard.steps();
  const auto end_of = [&](std::size_t i) {
    return i + 1 < steps.size() ? std::min(reached, steps[i + 1].from) : reached;
  };
  double cells = 0;
  for (std::size_t i = 0; i < steps.size() && steps[i].from < reached; ++i) {
    cells += density(steps[i].rate) * (end_of(i) - steps[i].from);
  }
  const double coarser = std::max(1.0, cells / kCellsMax);
  std::vector<Seconds> grid;
  for (std::size_t i = 0; i < steps.size() && steps[i].from < reached; ++i) {
    const Seconds width = end_of(i) - steps[i].from;
    const long count = std::max(1L, std::lround(density(steps[i].rate) * width / coarser));
    for (long k = 1; k <= count; ++k) {
      grid.push_back(steps[i].from + static_cast<double>(k) / static_cast<double>(count) * width);
    }
  }
  return grid;
}

/// Up to the age that no gang outlives. Intervals of less than a millionth of it are coarsened:
/// both waste next to nothing in lost work.
std::vector<Seconds> begins_every(const SpotGang& gang, const SaveCost& save, Seconds interval) {
  std::vector<Seconds> begins;
  const Seconds reached = std::min(gang.horizon, gang.hazard.age_at(kHazardMax));
  const Seconds work = std::max({interval, save.transfer, reached / kConstantMax});
  if (work + save.stall <= Seconds()) return begins;
  for (Seconds age = work; age <= reached && age + save.until_safe() <= gang.horizon;
       age += work + save.stall) {
    begins.push_back(age);
  }
  return begins;
}

IntervalWaste waste_every(const SpotGang& gang, const SaveCost& save, Seconds interval) {
  const Seconds used = std::clamp(interval, std::min(save.transfer, gang.horizon), gang.horizon);
  return {used, expected_waste(gang, save, begins_every(gang, save, used)).fraction()};
}

/// The best of intervals from a quarter of Young's to the horizon, spread evenly in logarithm.
IntervalWaste best_constant(const SpotGang& gang, const SaveCost& save, Seconds young) {
  IntervalWaste best = waste_every(gang, save, gang.horizon);
  const Seconds low = std::max(0.25 * young, 1e-5 * gang.horizon);
  if (low >= gang.horizon) return best;
  const double step = std::pow(gang.horizon / low, 1.0 / kIntervalsTried);
  Seconds interval = low;
  for (int i = 0; i < kIntervalsTried; ++i, interval = step * interval) {
    const IntervalWaste tried = waste_every(gang, save, interval);
    if (tried.waste < best.waste) best = tried;
  }
  return best;
}

}  // namespace

Hazard gang_hazard(const Hazard& one, double machines) {
  CHECK(machines >= 0);
  std::vector<HazardStep> steps = one.steps();
  for (HazardStep& step : steps) step.rate = machines * step.rate;
  return Hazard(std::move(steps));
}

SaveWaste expected_waste(const SpotGang& gang, const SaveCost& save,
                         std::span<const Seconds> begins) {
  check(gang, save);
  const Exposure exposure(gang.hazard);
  const Moment end = exposure.at(gang.horizon);
  SaveWaste waste{.alive = end.alive};
  Save last = start_of(exposure);
  for (const Seconds begin : begins) {
    CHECK(begin >= last.safe.age);
    const Save next = save_at(exposure, save, begin);
    waste.stalled += stalled_in(next);
    waste.redone += gang.without_notice * redone_between(last, next);
    last = next;
  }
  CHECK(last.safe.age <= gang.horizon);
  waste.redone += gang.without_notice * redone_until_end(last, end);
  return waste;
}

std::vector<Seconds> best_begins(const SpotGang& gang, const SaveCost& save,
                                 std::span<const Seconds> grid) {
  check(gang, save);
  const Exposure exposure(gang.hazard);
  const Moment end = exposure.at(gang.horizon);
  std::vector<Save> saves = {start_of(exposure)};
  for (const Seconds age : grid) {
    if (age + save.until_safe() <= gang.horizon) saves.push_back(save_at(exposure, save, age));
  }
  // From the end back: the remaining waste after a checkpoint, and the checkpoint that follows it.
  const std::size_t none = saves.size();
  std::vector<Seconds> ahead(saves.size());
  std::vector<std::size_t> following(saves.size(), none);
  // The first that may follow: safe states have the order of their checkpoints.
  std::size_t first = none;
  for (std::size_t i = saves.size(); i-- > 0;) {
    const Save& last = saves[i];
    while (first > i + 1 && saves[first - 1].begin.age >= last.safe.age) --first;
    ahead[i] = gang.without_notice * redone_until_end(last, end);
    for (std::size_t k = first; k < std::min(none, first + kWindow); ++k) {
      const Seconds cost =
          stalled_in(saves[k]) + gang.without_notice * redone_between(last, saves[k]) + ahead[k];
      if (cost < ahead[i]) {
        ahead[i] = cost;
        following[i] = k;
      }
    }
  }
  std::vector<Seconds> begins;
  for (std::size_t i = following[0]; i != none; i = following[i]) {
    begins.push_back(saves[i].begin.age);
  }
  return begins;
}

Result<SavePlan> plan_saves(const SpotGang& gang, const std::optional<SaveCost>& save) {
  if (!save) {
    return bad_input(
        "spot machines without checkpoints restart after each interruption; give the checkpoint "
        "size in the job, or use on-demand machines");
  }
  check(gang, *save);
  SavePlan plan;
  plan.begins = best_begins(gang, *save, fine_grid(gang, *save));
  plan.waste = expected_waste(gang, *save, plan.begins);
  const double useful = 1 - plan.waste.fraction();
  if (useful * kWorkTimesMax < 1) {
    return bad_input(fmt::format(
        "a checkpoint completes {:.0f} s after its start, and a machine is lost every {:.0f} s: "
        "only {:.2g} % of the time would be useful; use faster checkpoints, on-demand machines or "
        "fewer machines",
        save->until_safe().in(kSecond), mean_between_losses(gang).in(kSecond), 100 * useful));
  }
  const Seconds between = mean_between_losses(gang);
  plan.young = waste_every(gang, *save, young_interval(save->stall, between));
  plan.daly = waste_every(gang, *save, daly_interval(save->stall, between));
  plan.constant = best_constant(gang, *save, plan.young.interval);
  return plan;
}

double exponential_waste(PerSecond rate, double without_notice, const SaveCost& save,
                         Seconds interval) {
  CHECK(rate > PerSecond());
  CHECK(interval >= save.transfer);
  const double work = rate * interval;
  const double period = rate * (interval + save.stall);
  const double running = std::expm1(-work) / std::expm1(-period);
  const double safe = work * std::exp(-(rate * save.transfer)) / std::expm1(period);
  return 1 - (1 - without_notice) * running - without_notice * safe;
}

Seconds exponential_interval(PerSecond rate, double without_notice, const SaveCost& save) {
  CHECK(rate > PerSecond());
  if (without_notice <= 0) return std::numeric_limits<double>::infinity() * kSecond;
  // The waste falls, then rises: its minimum is found by bisection of the log intervals.
  const Seconds guess = young_interval(save.stall, 1 / (without_notice * rate));
  if (guess <= Seconds()) return save.transfer;  // Checkpoints cost nothing.
  Seconds low = std::max(1e-3 * guess, save.transfer);
  Seconds high = std::max(1e3 * guess, 2 * save.transfer);
  for (int i = 0; i < 100 && high > low; ++i) {
    const double third = std::cbrt(high / low);
    const Seconds left = third * low;
    const Seconds right = high / third;
    const bool falls = exponential_waste(rate, without_notice, save, left) >
                       exponential_waste(rate, without_notice, save, right);
    (falls ? low : high) = falls ? left : right;
  }
  return low;
}

Seconds young_interval(Seconds stall, Seconds mean_between_losses) {
  return std::sqrt(2 * (stall / kSecond) * (mean_between_losses / kSecond)) * kSecond;
}

Seconds daly_interval(Seconds stall, Seconds mean_between_losses) {
  const double share = stall / (2 * mean_between_losses);
  if (share >= 1) return mean_between_losses;
  const double factor = 1 + std::sqrt(share) / 3 + share / 9;
  return factor * young_interval(stall, mean_between_losses) - stall;
}

}  // namespace stint
