// How long the models of losses take: the closed form that the optimiser asks for each candidate,
// the schedule of saves, whole runs rehearsed one by one, and the policies that keep a deadline.

#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "bench/wall_time.h"
#include "risk/checkpoint_schedule.h"
#include "risk/cluster_table.h"
#include "risk/deadline_table.h"
#include "risk/pool_model.h"
#include "risk/spot_time.h"
#include "supervise/rehearsal.h"

namespace stint {
namespace {

constexpr SaveCost kSave{.stall = 30 * kSecond, .transfer = 2 * kMinute, .restore = 1 * kMinute};

void print_row(const std::string& what, const WallTime& time, Seconds unit, const char* bound) {
  fmt::print("{:<52}{:>12.3f}{:>12.3f}{:>8}\n", what, time.median.in(unit), time.min.in(unit),
             bound);
}

void print_closed_form() {
  std::vector<SpotRun> runs;
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    runs.push_back({.work = random.uniform(1, 100) * kHour,
                    .loss_rate = std::exp(random.uniform(-5, 0)) / kHour,
                    .without_notice = random.uniform(),
                    .stall = random.uniform(1, 100) * kSecond,
                    .transfer = random.uniform(0, 300) * kSecond,
                    .recovery = {15 * kMinute, 5 * kMinute},
                    .start_up = {5 * kMinute, 1 * kMinute}});
  }
  Seconds sum;
  const auto every = [&](const auto& ask) {
    WallTime time = wall_time_of(9, 10, [&] {
      for (const SpotRun& run : runs) sum += ask(run);
    });
    return WallTime{time.median / 1000, time.min / 1000};
  };
  fmt::print("\nTime of a run on spot, in closed form{:>27}{:>12}{:>8}\n", "median us", "min",
             "bound");
  const WallTime given = every([](const SpotRun& run) { return spot_time(run, kHour).mean; });
  print_row("with a given interval", given, kMicrosecond, "1");
  print_row("with the best interval",
            every([](const SpotRun& run) { return best_spot_time(run).mean; }), kMicrosecond, "1");
  CHECK(std::isfinite(sum.in(kSecond)));
}

void print_schedules() {
  const Hazard bathtub(
      {{Seconds(), 1 / kHour}, {1 * kHour, 0.05 / kHour}, {20 * kHour, 1 / kHour}});
  fmt::print("\nSchedule of saves{:>47}{:>12}\n", "median ms", "min");
  for (const double hours : {24.0, 240.0}) {
    for (const bool constant : {true, false}) {
      const SpotGang gang{.hazard = constant ? Hazard::constant(0.2 / kHour) : bathtub,
                          .without_notice = 1,
                          .horizon = hours * kHour};
      double waste = 0;
      const WallTime time =
          wall_time_of(3, 1, [&] { waste = plan_saves(gang, kSave)->waste.fraction(); });
      print_row(fmt::format("{} hazard, {:.0f} h, waste {:.2f} %",
                            constant ? "constant" : "bathtub", hours, 100 * waste),
                time, kMillisecond, "");
    }
  }
}

/// A day of work on eight spot machines.
RunTerms day() {
  RunTerms terms{.steps = 864'000, .step_time = [](std::span<const int> slots) {
                   return 0.8 / static_cast<double>(slots.size()) * kSecond;
                 }};
  for (int i = 0; i < 8; ++i) {
    terms.slots.push_back(
        {.market = Market::kSpot, .spot = 1 * kDollar / kHour, .on_demand = 3 * kDollar / kHour});
  }
  terms.save_every = 30 * kMinute;
  terms.tick = 5 * kMinute;
  terms.fills_up = true;
  return terms;
}

void print_runs() {
  fmt::print("\nRuns of 24 h on 8 spot machines, rehearsed\n{:<40}{:>12}{:>12}\n", "", "hours",
             "runs/s");
  const int runs = 1000;
  for (const double losses : {0.01, 0.05, 0.2}) {
    const RehearsalWorld world{.pools = {{.hazard = Hazard::constant(losses / kHour),
                                          .missing = 0.5,
                                          .missing_for = 20 * kMinute}},
                               .join = 90 * kSecond,
                               .save = kSave.until_safe(),
                               .save_stall = kSave.stall};
    Forecast forecast;
    const WallTime time = wall_time_of(
        3, 1, [&] { forecast = rehearse(day(), world, {}, {.runs = runs, .seed = 1}); });
    CHECK(forecast.trained == 1);
    fmt::print("{:<40}{:>12.2f}{:>12.0f}\n", fmt::format("{:.1f} losses per run", forecast.losses),
               forecast.time.mean.in(kHour), runs / time.median.in(kSecond));
  }
}

/// A pool of heavy-tailed spells, as many pools of a count as there are machines.
std::vector<int> two_weeks(int machines) {
  std::vector<int> counts;
  Random random(3);
  while (counts.size() < 14 * 288) {
    const int count = random.below(machines + 1);
    const double ticks = 6 * std::exp(1.4 * random.normal());
    counts.insert(counts.end(), static_cast<std::size_t>(1 + ticks), count);
  }
  return counts;
}

void print_policies() {
  fmt::print("\nPolicy for 24 h of work in 36 h, ticks of 5 min{:>17}{:>12}{:>8}\n", "median ms",
             "min", "bound");
  DeadlineGame game{
      .work = 288, .deadline = 432, .changeover = 3, .machines = 1, .price_ratio = 3.3};
  PoolBelief belief(5 * kMinute, game.deadline);
  for (const int count : two_weeks(1)) belief.see(count > 0);
  std::size_t bytes = 0;
  const WallTime one =
      wall_time_of(9, 1, [&] { bytes = DeadlineTable(game, belief.model()).size(); });
  print_row(fmt::format("one machine ({:.1f} MB)", static_cast<double>(bytes) / 1e6), one,
            kMillisecond, "200");
  game.machines = 16;
  CountBelief counts(game.machines);
  for (const int count : two_weeks(game.machines)) counts.see(count);
  const WallTime many =
      wall_time_of(3, 1, [&] { bytes = ClusterTable(game, counts.model()).size(); });
  print_row(fmt::format("16 machines ({:.1f} MB)", static_cast<double>(bytes) / 1e6), many,
            kMillisecond, "5000");
}

}  // namespace
}  // namespace stint

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // Long work shows how far it is.
  stint::print_closed_form();
  stint::print_schedules();
  stint::print_runs();
  stint::print_policies();
  return 0;
}
