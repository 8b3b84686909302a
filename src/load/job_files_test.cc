#include "load/job_files.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

#include "calibrate/law_fit.h"

namespace stint {
namespace {

/// The message, after a check that it is bad input.
std::string complaint(const std::string& text) {
  const auto jobs = read_jobs(text, "jobs.json");
  EXPECT_FALSE(jobs.ok());
  if (jobs.ok()) return "";
  EXPECT_EQ(jobs.error().kind, ErrorKind::kBadInput);
  return jobs.error().message;
}

TEST(ShippedJobs, HaveTheirNamesAndSizes) {
  std::set<std::string> names;
  for (const auto& [name, job] : shipped_jobs()) {
    names.insert(name);
    EXPECT_EQ(job.name, name);
    EXPECT_GT(job.gradient_bytes, Bytes{}) << name;
  }
  EXPECT_EQ(names, (std::set<std::string>{"bert", "cifar10", "deepspeech2", "imagenet", "ncf",
                                          "paced-110mb", "paced-20mb", "paced-55mb", "paced-5mb",
                                          "yolov3"}));
}

TEST(ReadJobs, TakesAnArrayWithOrWithoutMarks) {
  const auto jobs = read_jobs(
      R"([{"schema": "stint.job/1", "name": "a", "gradient_bytes": "30 MB", "compute": []},
          {"name": "b", "gradient_bytes": "40 MB", "compute": []}])",
      "jobs.json");
  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ(jobs->at("a").gradient_bytes, 30 * kMB);
  EXPECT_EQ(jobs->at("b").gradient_bytes, 40 * kMB);
}

TEST(ReadJobs, AnEmptyArrayHoldsNoJobs) {
  const auto jobs = read_jobs("[]", "jobs.json");
  ASSERT_TRUE(jobs.ok());
  EXPECT_TRUE(jobs->empty());
}

TEST(ReadJobs, SaysWhatItIsInsteadOfAnArray) {
  EXPECT_EQ(
      complaint(R"({"name": "a"})"),
      "jobs.json: must be an array of job profiles, not an object; put [ and ] around a single "
      "one");
  EXPECT_EQ(complaint("7"), "jobs.json: must be an array of job profiles, not a whole number");
  EXPECT_NE(complaint("[{").find("jobs.json"), std::string::npos);
}

TEST(ReadJobs, SaysWhichJobIsWrong) {
  const std::string good = R"({"name": "a", "gradient_bytes": "30 MB", "compute": []})";
  EXPECT_TRUE(complaint("[" + good + R"(, {"name": "b", "gradient_bytes": 30, "compute": []}])")
                  .starts_with("jobs.json, job 2"));
  EXPECT_TRUE(complaint("[" + good + ", 7]").starts_with("jobs.json, job 2"));
  EXPECT_TRUE(complaint(R"([{"schema": "stint.plan/1"}])").starts_with("jobs.json, job 1"));
  EXPECT_EQ(complaint("[" + good + "," + good + "]"),
            "jobs.json: the job a appears twice; keep one");
}

TEST(ShippedPriors, HoldEveryConstantOfTheLaw) {
  const auto priors = law_priors(shipped_priors());
  ASSERT_TRUE(priors.ok()) << priors.error().message;
  for (const auto& [name, field] : law_names(FabricLaw{})) {
    EXPECT_GT(priors->fabric_deviation.*field, 0) << name;
  }
  EXPECT_GT(priors->noise_floor, 0);
}

}  // namespace
}  // namespace stint
