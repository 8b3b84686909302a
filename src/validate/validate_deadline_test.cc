#include "validate/validate_deadline.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

#include "base/csv.h"
#include "base/file.h"
#include "base/random.h"
#include "base/text.h"

namespace stint {
namespace {

/// Jobs of 3 h in 4 h on pools of 3 days: short, but enough windows for means.
SyntheticDeadlineRequest small(int seed) {
  return {.terms = {.work = 3 * kHour, .deadline = 4 * kHour},
          .pools = 2,
          .seed = seed,
          .length = 3 * kDay};
}

// The means of few windows differ by a few per cent by chance; whoever is dearer by more than that
// plays worse.
TEST(ValidateDeadlineSynthetic, StintMissesNothingAndIsNoDearerThanOthersInAnyCell) {
  constexpr double kByChance = 1.03;
  const auto answer = validate_deadline_synthetic(small(1));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_EQ(answer->cells.size(), 7U);
  for (const DeadlineCell& cell : answer->cells) {
    SCOPED_TRACE(cell.kind + " " + std::to_string(cell.slack));
    EXPECT_GE(cell.windows, 60);
    const DeadlineScore& ours = cell.policies.at("stint");
    EXPECT_EQ(ours.missed, 0);
    EXPECT_GE(ours.cost_ratio_to_optimum, 1);
    for (const char* other : {"greedy", "uniform-progress"}) {
      EXPECT_EQ(cell.policies.at(other).missed, 0) << other;
      EXPECT_LE(ours.cost_ratio_to_optimum,
                kByChance * cell.policies.at(other).cost_ratio_to_optimum)
          << other;
    }
    EXPECT_EQ(cell.policies.contains("informed"), cell.kind == "steady");
  }
  const auto& all = answer->policies;
  EXPECT_LT(all.at("stint").cost_ratio_to_optimum, all.at("greedy").cost_ratio_to_optimum);
  EXPECT_LT(all.at("stint").cost_ratio_to_optimum,
            all.at("uniform-progress").cost_ratio_to_optimum);
  EXPECT_FALSE(all.contains("informed"));
}

TEST(ValidateDeadlineSynthetic, OneSeedGivesOneAnswer) {
  SyntheticDeadlineRequest request = small(3);
  request.pools = 1;
  request.length = 10 * kHour;
  const auto first = validate_deadline_synthetic(request);
  const auto again = validate_deadline_synthetic(request);
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(write_deadline_validation(*first), write_deadline_validation(*again));
  EXPECT_DOUBLE_EQ(first->cells[0].slack, 4.0 / 3);
  // Without a deadline there are four.
  request.terms.deadline.reset();
  EXPECT_EQ(validate_deadline_synthetic(request)->cells.size(), 28U);
}

TEST(ValidateDeadlineSynthetic, PlaysAgainWithRecordedRefusals) {
  const auto path = std::filesystem::path(testing::TempDir()) / "stint_synthetic_refusals.csv";
  ASSERT_TRUE(
      write_file(path.string(), "provider,gpu,zone,time_utc\naws,K80,,2020-03-15T10:00:00Z\n")
          .ok());
  SyntheticDeadlineRequest request = small(3);
  request.length = 10 * kHour;
  request.refusals = path.string();
  const auto answer = validate_deadline_synthetic(request);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  // One failure in the first tick: a policy that starts on demand starts a tick later.
  EXPECT_NEAR(answer->policies.at("on-demand").refused->slip_mean.in(kMinute), 5, 1e-9);
  request.refusals = "nowhere.csv";
  EXPECT_EQ(validate_deadline_synthetic(request).error().kind, ErrorKind::kBadInput);
}

TEST(ValidateDeadlineSynthetic, RefusesWorkThatDoesNotFit) {
  EXPECT_EQ(validate_deadline_synthetic({.terms = {.work = 30 * kDay}}).error().kind,
            ErrorKind::kUsage);
  EXPECT_EQ(validate_deadline_synthetic({.terms = {.work = 1 * kHour, .deadline = 1 * kHour}})
                .error()
                .kind,
            ErrorKind::kUsage);
}

std::string file(const std::string& bytes) {
  const auto path = std::filesystem::path(testing::TempDir()) / "stint_deadline_refusals.csv";
  EXPECT_TRUE(write_file(path.string(), bytes).ok());
  return path.string();
}

std::vector<ReplayPool> one_pool() {
  const DeadlineGame game{.work = 2, .deadline = 4, .changeover = 1, .price_ratio = 3};
  return {{.game = game,
           .gap = 30 * kMinute,
           .zones = {{1, 1, 1, 1}},
           .prior = learned_prior(game, 30 * kMinute, {})}};
}

// In ticks of half an hour from the first failure: 0, 0, 3 and, past the deadline of 2 h, 5.
TEST(DeadlineRefusals, ArePutOnEveryWindow) {
  const std::string failures = file(
      "provider,gpu,zone,time_utc\n"
      "gcp,K80,a,2020-03-15T10:00:00Z\ngcp,K80,b,2020-03-15T10:20:00Z\n"
      "gcp,K80,a,2020-03-15T11:30:00Z\ngcp,K80,a,2020-03-15T12:40:00Z\n"
      "aws,V100,,2020-01-01T00:00:00Z\n");
  std::vector<ReplayPool> pools = one_pool();
  const auto which = add_refusals(failures, pools);
  ASSERT_TRUE(which.ok()) << which.error().message;
  EXPECT_EQ(*which, "gcp K80 of " + failures +
                        ": the first 2 h from 2020-03-15 on, with 3 failed starts, begin with "
                        "every window");
  EXPECT_EQ(pools[0].refused,
            (std::vector<bool>{true, false, false, true, false, true, false, false}));
}

TEST(DeadlineRefusals, ThatCannotBeReadAreBadInput) {
  std::vector<ReplayPool> pools = one_pool();
  EXPECT_EQ(add_refusals("nowhere.csv", pools).error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(add_refusals(file("a,b\n1,2\n"), pools).error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(add_refusals(file("provider,gpu,zone,time_utc\n"), pools).error().kind,
            ErrorKind::kBadInput);
}

std::string file(const std::string& name, std::string_view bytes) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("stint_validate_deadline_" + name);
  EXPECT_TRUE(write_file(path.string(), bytes).ok());
  return path.string();
}

/// A pool of up to `machines`, in ticks of 5 min, drawn by chance.
std::string trace(const std::string& name, std::uint64_t seed, int ticks, int machines = 1) {
  Random random(seed);
  std::vector<std::string> counts;
  while (static_cast<int>(counts.size()) < ticks) {
    const std::string count = fmt::to_string(random.below(machines + 1));
    for (int left = 1 + random.below(20); left > 0; --left) counts.push_back(count);
  }
  counts.resize(static_cast<std::size_t>(ticks));
  return file(name, fmt::format(R"({{"metadata": {{"gap_seconds": 300}}, "data": [{}]}})",
                                join(counts, ", ")));
}

/// 4 h of work in 6 h: 48 and 72 ticks.
DeadlineTerms terms(int machines = 1) {
  return {.work = 4 * kHour, .deadline = 6 * kHour, .machines = machines};
}

TEST(ValidateDeadline, WrongRequestsAreUsageErrors) {
  const std::string a = trace("usage.json", 1, 100);
  const auto kind = [](const ValidateDeadlineRequest& request) {
    const auto answer = validate_deadline(request);
    EXPECT_FALSE(answer.ok());
    return answer.error().kind;
  };
  EXPECT_EQ(kind({.traces = {}}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.traces = {a}, .terms = terms(2), .slots = 2}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.traces = {a}, .terms = terms(), .window_step = Seconds{}}), ErrorKind::kUsage);
  DeadlineTerms tight = terms();
  tight.deadline = 4 * kHour;
  EXPECT_EQ(kind({.traces = {a}, .terms = tight}), ErrorKind::kUsage);
}

// 300 ticks hold windows of 72 that begin every 36: at 0, 36, …, 216; with a step of an hour at 0,
// 12, …, 228.
TEST(ValidateDeadline, PlaysEveryFullWindow) {
  const std::string a = trace("windows.json", 1, 300);
  const auto every_half = validate_deadline({.traces = {a}, .terms = terms()});
  ASSERT_TRUE(every_half.ok()) << every_half.error().message;
  EXPECT_EQ(every_half->windows, 7);
  EXPECT_EQ(every_half->traces.at(a).windows, 7);
  const auto hourly =
      validate_deadline({.traces = {a}, .terms = terms(), .window_step = 1 * kHour});
  EXPECT_EQ(hourly->windows, 20);
}

TEST(ValidateDeadline, StintKeepsEveryDeadlineAndNobodyBeatsTheOptimum) {
  const auto answer = validate_deadline(
      {.traces = {trace("a.json", 1, 600), trace("b.json", 2, 600)}, .terms = terms()});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->policies.size(), 6U);
  for (const char* name : {"stint", "greedy", "uniform-progress", "on-demand"}) {
    EXPECT_EQ(answer->policies.at(name).missed, 0) << name;
    EXPECT_GE(answer->policies.at(name).cost_ratio_to_optimum, 1) << name;
  }
  EXPECT_DOUBLE_EQ(answer->policies.at("optimum").worst_ratio_to_optimum, 1);
  EXPECT_DOUBLE_EQ(answer->policies.at("on-demand").cost_ratio_to_on_demand, 1);
  EXPECT_EQ(answer->traces.size(), 2U);
}

// A count of three is capped at two machines; a pool of one plays with the second missing.
TEST(ValidateDeadline, PlaysClustersOfSeveralMachines) {
  const auto answer = validate_deadline(
      {.traces = {trace("cluster.json", 1, 200, 3), trace("small.json", 2, 200, 1)},
       .terms = terms(2)});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->policies.at("stint").missed, 0);
}

// Slot 1 of a pool of up to two is available when any machine is, slot 2 when both are.
TEST(ValidateDeadline, PlaysSlotsAsSingleMachines) {
  const std::string a = trace("slots.json", 1, 144, 2);
  const std::string out =
      (std::filesystem::path(testing::TempDir()) / "stint_validate_deadline_out.csv").string();
  const auto answer =
      validate_deadline({.traces = {a}, .terms = terms(), .slots = 2, .windows = out});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->windows, 6);
  const auto csv = Csv::parse(*read_file(out), out);
  ASSERT_TRUE(csv.ok());
  ASSERT_EQ(csv->rows(), 6U);
  EXPECT_EQ(csv->header()[2], "slot");
  EXPECT_EQ(csv->cell(0, "slot"), "1");
  EXPECT_EQ(csv->cell(5, "slot"), "2");
  EXPECT_EQ(csv->cell(4, "start_tick"), "36");
  // 48 ticks of work and 3 of changeover at 3.3.
  EXPECT_EQ(csv->cell(0, "on-demand_cost"), "168.3");
  EXPECT_EQ(csv->cell(0, "stint_missed"), "0");
}

TEST(ValidateDeadline, AShortTraceIsLeftOutAndAllShortIsBadInput) {
  const std::string long_enough = trace("long.json", 1, 72);
  const std::string too_short = trace("short.json", 1, 71);
  const auto answer = validate_deadline({.traces = {too_short, long_enough}, .terms = terms()});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->windows, 1);
  ASSERT_EQ(answer->notes.size(), 1U);
  EXPECT_NE(answer->notes[0].find("short.json is shorter than one window"), std::string::npos);
  const auto none = validate_deadline({.traces = {too_short}, .terms = terms()});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kBadInput);
}

// A trace that is to be played teaches nothing; another does, also one with another gap.
TEST(ValidateDeadline, LearnsFromOthersButNotFromTheTraceItself) {
  const std::string a = trace("played.json", 1, 200);
  const std::string other = file(
      "flapping.json", R"({"metadata": {"gap_seconds": 150}, "data": [)" + [] {
        std::string data = "0";
        for (int i = 1; i < 3000; ++i) data += i / 60 % 2 == 0 ? ",0" : ",1";
        return data;
      }() + "]}");
  const auto alone = validate_deadline({.traces = {a}, .terms = terms()});
  const auto itself = validate_deadline({.traces = {a}, .fit = {a}, .terms = terms()});
  const auto taught = validate_deadline({.traces = {a}, .fit = {other, a}, .terms = terms()});
  ASSERT_TRUE(alone.ok() && itself.ok() && taught.ok());
  EXPECT_EQ(write_deadline_validation(*itself), write_deadline_validation(*alone));
  EXPECT_NE(write_deadline_validation(*taught), write_deadline_validation(*alone));
}

TEST(ValidateDeadline, PlaysAgainWithRecordedRefusals) {
  std::string failures = "provider,gpu,zone,time_utc\n";
  for (int hour = 0; hour < 5; ++hour) {
    for (int minute = 0; minute < 60; minute += 4) {
      failures += fmt::format("aws,K80,,2020-03-15T{:02}:{:02}:00Z\n", hour, minute);
    }
  }
  const auto answer = validate_deadline({.traces = {trace("refused.json", 5, 300)},
                                         .terms = terms(),
                                         .refusals = file("failures.csv", failures)});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_TRUE(answer->refusals.has_value());
  EXPECT_NE(answer->refusals->find("aws K80"), std::string::npos);
  EXPECT_NE(answer->refusals->find("the first 6 h from 2020-03-15 on, with 75 failed starts"),
            std::string::npos)
      << *answer->refusals;
  // Nothing starts in the first five hours, and four hours of work are left then.
  const auto& on_demand = answer->policies.at("on-demand").refused;
  ASSERT_TRUE(on_demand.has_value());
  EXPECT_EQ(on_demand->missed, answer->windows);
  EXPECT_EQ(on_demand->slip_max, 5 * kHour);
  EXPECT_EQ(on_demand->late_max, 3.25 * kHour);
}

TEST(ValidateDeadline, TellsHowFarItIs) {
  double last = 0;
  const auto answer = validate_deadline({.traces = {trace("progress.json", 1, 300)},
                                         .terms = terms(),
                                         .progress = [&](double done) { last = done; }});
  ASSERT_TRUE(answer.ok());
  EXPECT_DOUBLE_EQ(last, 1);
}

}  // namespace

}  // namespace stint
