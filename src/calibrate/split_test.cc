#include "calibrate/split.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace stint {
namespace {

using Numbers = std::vector<std::size_t>;

StepRow row_of(const std::string& job, std::vector<int> by_vm, const std::string& device = "T4") {
  return {
      .job = job, .device = device, .workers_by_vm = std::move(by_vm), .time = 100 * kMillisecond};
}

/// Two jobs, each alone, on one VM and on two.
std::vector<StepRow> two_jobs() {
  return {row_of("a", {1}), row_of("a", {4}), row_of("a", {2, 2}),
          row_of("b", {1}), row_of("b", {4}), row_of("b", {4, 4})};
}

Split split_of(const char* text) {
  const auto split = parse_split(text);
  EXPECT_TRUE(split.ok()) << split.error().message;
  return *split;
}

TEST(Split, IsReadFromItsText) {
  EXPECT_EQ(split_of("leave-one-job-out").kind, Split::Kind::kLeaveOneJobOut);
  EXPECT_EQ(split_of("max-gpus=6").kind, Split::Kind::kWorkersMax);
  EXPECT_EQ(split_of("max-gpus=6").most, 6);
  EXPECT_EQ(split_of("gpu=P100").kind, Split::Kind::kDevice);
  EXPECT_EQ(split_of("gpu=P100").device, "P100");
}

TEST(Split, IsWrittenAsItIsRead) {
  for (const char* text :
       {"leave-one-job-out", "max-gpus=6", "max-vms=1", "gpu=P100", "gpu=RTX 6000"}) {
    EXPECT_EQ(to_text(split_of(text)), text);
  }
}

TEST(Split, AnythingElseIsAUsageErrorThatNamesTheForms) {
  for (const char* text :
       {"", "half", "max-gpus", "max-gpus=", "max-gpus=0", "max-gpus=-1", "max-gpus=1.5",
        "max-gpus=6x", "max-gpus=99999999999", "gpu=", "Leave-one-job-out", "leave-one-job-out "}) {
    const auto split = parse_split(text);
    ASSERT_FALSE(split.ok()) << text;
    EXPECT_EQ(split.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(split.error().message,
              fmt::format(
                  "--split must be leave-one-job-out, max-gpus=N, max-vms=N or gpu=NAME, not '{}'",
                  text));
  }
  EXPECT_EQ(parse_split("\x1b[31m").error().message.find('\x1b'), std::string::npos);
}

// Rows 0 and 3 have one worker and train always; row 1, on one VM, is trained on only when the
// other job is left out.
TEST(Split, AJobThatIsLeftOutTrainsOnlyItsRowsWithOneWorker) {
  const auto split = folds({}, two_jobs(), TestRows::kSeveralVms);
  ASSERT_EQ(split.size(), 2U);
  EXPECT_EQ(split[0].train, (Numbers{0, 3, 4, 5}));
  EXPECT_EQ(split[0].test, (Numbers{2}));
  EXPECT_EQ(split[1].train, (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(split[1].test, (Numbers{5}));
}

TEST(Split, RowsOnOneVmAreTestedWhereTheFormatAsksForThem) {
  const auto split = folds({}, two_jobs(), TestRows::kSeveralWorkers);
  ASSERT_EQ(split.size(), 2U);
  EXPECT_EQ(split[0].test, (Numbers{1, 2}));
  EXPECT_EQ(split[1].test, (Numbers{4, 5}));
}

// 23 jobs in ten groups: three jobs in the first three groups and two in the others.
TEST(Split, MoreThanTenJobsAreLeftOutInTenGroups) {
  std::vector<StepRow> rows;
  for (int i = 0; i < 23; ++i) rows.push_back(row_of(fmt::format("job{:02}", i), {1, 1}));
  const auto split = folds({}, rows, TestRows::kSeveralVms);
  ASSERT_EQ(split.size(), 10U);
  std::set<std::size_t> tested;
  for (std::size_t i = 0; i < split.size(); ++i) {
    EXPECT_EQ(split[i].test.size(), i < 3 ? 3U : 2U);
    EXPECT_EQ(split[i].test.size() + split[i].train.size(), rows.size());
    tested.insert(split[i].test.begin(), split[i].test.end());
  }
  EXPECT_EQ(tested.size(), rows.size());
}

TEST(Split, UpToSoManyWorkersTrainAndMoreAreTested) {
  const auto four = folds(split_of("max-gpus=4"), two_jobs(), TestRows::kSeveralVms);
  ASSERT_EQ(four.size(), 1U);
  EXPECT_EQ(four[0].train, (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(four[0].test, (Numbers{5}));
}

TEST(Split, RowsOnOneVmCountAsTestOfMoreWorkers) {
  const auto one = folds(split_of("max-gpus=1"), two_jobs(), TestRows::kSeveralVms);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].test, (Numbers{1, 2, 4, 5}));
}

TEST(Split, SeveralWorkersOfADeviceAreTested) {
  const std::vector<StepRow> rows = {row_of("a", {1}, "P100"), row_of("a", {4}, "P100"),
                                     row_of("a", {1}, "K80"), row_of("a", {4}, "K80"),
                                     row_of("a", {2, 2}, "P100")};
  const auto split = folds(split_of("gpu=P100"), rows, TestRows::kSeveralWorkers);
  ASSERT_EQ(split.size(), 1U);
  EXPECT_EQ(split[0].train, (Numbers{0, 2, 3}));
  EXPECT_EQ(split[0].test, (Numbers{1, 4}));
}

TEST(Split, NothingToTestGivesNoFolds) {
  const std::vector<StepRow> alone = {row_of("a", {1}), row_of("b", {1})};
  EXPECT_TRUE(folds({}, alone, TestRows::kSeveralVms).empty());
  EXPECT_TRUE(folds({}, {}, TestRows::kSeveralVms).empty());
  EXPECT_TRUE(folds(split_of("max-gpus=8"), two_jobs(), TestRows::kSeveralVms).empty());
  EXPECT_TRUE(folds(split_of("gpu=A100"), two_jobs(), TestRows::kSeveralVms).empty());
}

TEST(Split, RowsThatCannotBeUsedAreInNeitherPart) {
  auto rows = two_jobs();
  rows[0].unusable = "out of memory";
  rows[2].unusable = "out of memory";
  for (const char* how : {"leave-one-job-out", "max-gpus=1", "gpu=T4"}) {
    for (const Fold& fold : folds(split_of(how), rows, TestRows::kSeveralWorkers)) {
      for (const auto* part : {&fold.train, &fold.test}) {
        for (const std::size_t i : *part) EXPECT_TRUE(rows[i].unusable.empty()) << how;
      }
    }
  }
}

}  // namespace
}  // namespace stint
