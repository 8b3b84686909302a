#include "measure/trace/profile_records.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr const char* kStart =
    R"({"schema": "stint.profile/1", "rank": 0, "start": {"world": 2, "device": "T4", )"
    R"("environment": {"torch": "1.13"}, "gradient_bytes": 100, "parameter_bytes": 120, )"
    R"("optimizer_bytes": 0, "optimizer": "SGD", "communication": "timed"}})"
    "\n";
constexpr const char* kStep =
    R"({"schema": "stint.profile/1", "rank": 1, "iteration": {"number": 7, "warmup": false, )"
    R"("sampled": true, "batch": 8, "passes": 1, "time_s": 0.5, "input_s": 0.01, )"
    R"("forward_s": 0.1, "backward_s": 0.2, "update_s": 0.05, "peak_bytes": 1000, )"
    R"("buckets": [{"bytes": 100, "ready_s": 0.15, "reduce_s": 0.02}], )"
    R"("local_square": 4, "mean_square": 3}})"
    "\n";
constexpr const char* kExit =
    R"({"schema": "stint.profile/1", "rank": 0, "exit": {"backwards": 3, "steps": 2}})"
    "\n";

TEST(ProfileRecords, ReadsEveryKindOfLine) {
  const auto read = read_profile_records(std::string(kStart) + kStep + kExit, "records");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->warnings.empty());
  ASSERT_EQ(read->noun.size(), 3U);
  EXPECT_EQ(read->noun[0].start->world, 2);
  EXPECT_EQ(read->noun[0].start->parameter_bytes, 120 * kByte);
  EXPECT_FALSE(read->noun[0].start->dataset.has_value());
  const ProfiledStep& step = *read->noun[1].iteration;
  EXPECT_EQ(read->noun[1].rank, 1);
  EXPECT_EQ(step.batch, 8);
  EXPECT_EQ(step.backward, 0.2 * kSecond);
  EXPECT_EQ(step.buckets.at(0).reduce, 0.02 * kSecond);
  EXPECT_EQ(step.local_square, 4.0);
  EXPECT_EQ(read->noun[2].exit->backwards, 3);
}

TEST(ProfileRecords, ALineThatWasCutOffIsLeftOutWithAWarning) {
  const std::string text = std::string(kStart) + std::string(kStep).substr(0, 50);
  const auto read = read_profile_records(text, "records");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->noun.size(), 1U);
  EXPECT_EQ(read->warnings,
            std::vector<std::string>{"records:2: cut off in the middle of a write; left out"});
}

TEST(ProfileRecords, AnyOtherBadLineIsAnError) {
  const auto cut = read_profile_records(std::string("{\"sch\n") + kStep, "records");
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().kind, ErrorKind::kBadInput);
  std::string negative = kStep;
  negative.insert(negative.find("0.1, \"backward"), "-");
  EXPECT_FALSE(read_profile_records(negative, "records").ok());
  EXPECT_FALSE(read_profile_records("{\"schema\": \"stint.job/1\"}\n", "records").ok());
  EXPECT_TRUE(read_profile_records("", "records").ok());
}

}  // namespace
}  // namespace stint
