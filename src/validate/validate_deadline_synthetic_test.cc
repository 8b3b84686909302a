#include "validate/validate_deadline_synthetic.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>

#include "base/file.h"

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
  // One failure in the first tick: who begins on demand begins a tick later.
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

}  // namespace
}  // namespace stint
