#include "validate/deadline_refusals.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

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

}  // namespace
}  // namespace stint
