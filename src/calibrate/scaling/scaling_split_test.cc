#include "calibrate/scaling/scaling_split.h"

#include <gtest/gtest.h>

#include "calibrate/scaling/scaling_fixture.h"

namespace stint {
namespace {

using Numbers = std::vector<std::size_t>;

std::vector<Fold> split_by(std::string_view text, const std::vector<ScalingRow>& rows) {
  const auto split = parse_scaling_split(text);
  EXPECT_TRUE(split.ok());
  return split.ok() ? folds(*split, rows) : std::vector<Fold>();
}

TEST(ScalingSplit, NonsenseIsAUsageError) {
  for (const char* text : {"", "smallest", "smallest=0", "smallest=x", "max-gpus=-1", "gpu=A100"}) {
    const auto split = parse_scaling_split(text);
    ASSERT_FALSE(split.ok()) << text;
    EXPECT_EQ(split.error().kind, ErrorKind::kUsage);
  }
}

TEST(ScalingSplit, SmallestCountsSizesOfEachSeries) {
  const std::vector<ScalingRow> rows{scaling_row("bert", 8, 8),        scaling_row("bert", 8, 16),
                                     scaling_row("bert", 64, 64),      scaling_row("bert", 16, 8),
                                     scaling_row("bert", 64, 64, "b"), scaling_row("ssd", 128, 8)};
  const auto folds = split_by("smallest=2", rows);
  ASSERT_EQ(folds.size(), 1U);
  EXPECT_EQ(folds[0].test, (Numbers{2}));
  EXPECT_EQ(folds[0].train, (Numbers{0, 1, 3, 4, 5}));
}

// In v2 the cluster of 64 is the second smallest; in v1 it is tested, so that neither trains.
TEST(ScalingSplit, ATestedClusterIsTrainedInNoEdition) {
  std::vector<ScalingRow> rows{scaling_row("bert", 8, 8), scaling_row("bert", 16, 8),
                               scaling_row("bert", 64, 8), scaling_row("bert", 8, 8),
                               scaling_row("bert", 64, 8)};
  rows[3].edition = rows[4].edition = "v2";
  const auto folds = split_by("smallest=2", rows);
  ASSERT_EQ(folds.size(), 1U);
  EXPECT_EQ(folds[0].test, (Numbers{2}));
  EXPECT_EQ(folds[0].train, (Numbers{0, 1, 3}));
}

TEST(ScalingSplit, JobsOwnersAndSizesAreHeldOut) {
  std::vector<ScalingRow> rows{scaling_row("bert", 8, 8), scaling_row("ssd", 16, 8, "b"),
                               scaling_row("bert", 64, 8, "b")};
  EXPECT_EQ(split_by("leave-one-job-out", rows).size(), 2U);
  EXPECT_EQ(split_by("leave-one-job-out", rows)[0].test, (Numbers{0, 2}));
  EXPECT_EQ(split_by("leave-one-submitter-out", rows)[1].test, (Numbers{1, 2}));
  EXPECT_EQ(split_by("max-gpus=16", rows)[0].test, (Numbers{2}));
  EXPECT_TRUE(split_by("max-gpus=64", rows).empty());
  EXPECT_EQ(split_by("max-vms=1", rows)[0].test, (Numbers{1, 2}));
  EXPECT_EQ(split_by("max-vms=2", rows)[0].test, (Numbers{2}));
  rows[2].unusable = "nodes is blank";
  EXPECT_EQ(split_by("leave-one-job-out", rows)[0].test, (Numbers{0}));
}

}  // namespace
}  // namespace stint
