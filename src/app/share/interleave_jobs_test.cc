#include "app/share/interleave_jobs.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "base/temporary_folder.h"
#include "load/example_job_fixture.h"
#include "predict/law.h"

namespace stint {
namespace {

InterleaveRequest request(std::vector<std::string> jobs, const std::string& cluster) {
  return {.jobs = std::move(jobs), .cluster = cluster, .batch_per_worker = {32}};
}

SharingAnswer answered(const InterleaveRequest& asked) {
  const auto answer = interleave_jobs({}, asked);
  EXPECT_TRUE(answer.ok());
  return answer.ok() ? answer->answer : SharingAnswer{};
}

bool has(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& it) { return it.find(part) != std::string::npos; });
}

TEST(InterleaveJobs, PairsJobsThatWaitForTheNetwork) {
  const SharingAnswer it = answered(request({"paced-20mb", "paced-55mb"}, "4x local.medium"));
  ASSERT_EQ(it.pairs.size(), 1U);
  const SharingPair& pair = it.pairs[0];
  EXPECT_GT(pair.choice.speedup, 1.02);
  EXPECT_EQ(pair.choice.members.size(), 2U);
  for (const SharingMember& member : pair.choice.members) EXPECT_GE(member.slowdown, 1 - 1e-9);
  EXPECT_GT(pair.choice.speedup_without_overlap, pair.choice.speedup);
  ASSERT_TRUE(pair.saved.has_value());
  EXPECT_LT(pair.saved->p10, pair.saved->mean);
  EXPECT_NEAR((*it.separate - *it.cost).in(kDollar), pair.saved->mean.in(kDollar), 1e-9);
  EXPECT_NEAR(it.speedup, *it.separate / *it.cost, 1e-9);
  ASSERT_EQ(it.considered.size(), 1U);
  EXPECT_EQ(it.considered[0].recommended, pair.choice.mode);
  // Whole turns, bucket turns, sharing freely, and separately.
  EXPECT_EQ(it.considered[0].options.size(), 4U);
  EXPECT_EQ(it.considered[0].options[0].time, pair.choice.time);
  EXPECT_TRUE(validate(it).ok());
}

TEST(InterleaveJobs, SaysThatOneMachineHardlyPays) {
  const SharingAnswer it = answered(request({"paced-20mb", "paced-55mb"}, "1x local.medium"));
  EXPECT_LT(it.speedup, 1.05);
  EXPECT_TRUE(has(it.notes, "On one VM"));
}

// Updates take no turn, but here they take no time either.
TEST(InterleaveJobs, RecommendsSeparatelyWhereNothingPays) {
  const SharingAnswer it = answered(request({kExampleJob, kExampleJob}, "1x p3.2xlarge"));
  EXPECT_TRUE(it.pairs.empty());
  EXPECT_EQ(it.alone.size(), 2U);
  EXPECT_EQ(it.speedup, 1);
  EXPECT_TRUE(has(it.notes, "No two of the jobs should share"));
  ASSERT_EQ(it.considered.size(), 1U);
  EXPECT_EQ(it.considered[0].recommended, SharingMode::kSeparately);
  EXPECT_TRUE(has({it.considered[0].reason.value_or("")}, "not certain to exceed"));
}

TEST(InterleaveJobs, TellsWhoDoesNotFitBesideWhom) {
  InterleaveRequest asked = request({kExampleJob, kExampleJob}, "2x g4dn.12xlarge");
  asked.batch_per_worker = {96};
  const SharingAnswer it = answered(asked);
  EXPECT_TRUE(it.pairs.empty());
  ASSERT_EQ(it.considered.size(), 1U);
  EXPECT_TRUE(has({it.considered[0].reason.value_or("")}, "Together they need"));
}

TEST(InterleaveJobs, RefusesUnequalNumbersOfWorkers) {
  InterleaveRequest asked = request({kExampleJob, kExampleJob}, "2x g4dn.12xlarge");
  asked.workers_per_vm = {4, 2};
  const SharingAnswer it = answered(asked);
  ASSERT_EQ(it.considered.size(), 1U);
  EXPECT_TRUE(has({it.considered[0].reason.value_or("")}, "has 8 workers"));
}

TEST(InterleaveJobs, LeavesAJobAloneThatWouldBeLate) {
  InterleaveRequest asked = request({"paced-20mb", "paced-55mb"}, "4x local.medium");
  SharingAnswer it = answered(asked);
  asked.deadlines = {1.02 * it.jobs[0].time.mean, 1000 * kHour};
  asked.confidence = 0.5;
  it = answered(asked);
  EXPECT_TRUE(it.pairs.empty());
  EXPECT_TRUE(has({it.considered.at(0).reason.value_or("")}, "would meet its deadline with a "));
  asked.deadlines = {0.5 * it.jobs[0].time.mean, 1000 * kHour};
  EXPECT_TRUE(has(answered(asked).notes, "Even alone, paced-20mb"));
}

TEST(InterleaveJobs, DrawsTheTurnsOfEachPair) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  InterleaveRequest asked = request({"paced-20mb", "paced-55mb"}, "4x local.medium");
  asked.timeline = (std::filesystem::path(folder->path()) / "turns.json").string();
  const auto answer = interleave_jobs({}, asked);
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->drawn);
  const auto text = read_file(asked.timeline);
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(parse_json(*text, "turns.json").ok());
  EXPECT_NE(text->find("turn on 4x local.medium"), std::string::npos);
  asked.timeline += "/turns.json";  // In a file.
  EXPECT_FALSE(interleave_jobs({}, asked).ok());
}

// On this cluster accelerators are what both wait for.
TEST(InterleaveJobs, ComputingThatIsSlowedGainsLess) {
  InterleaveRequest asked = request({"paced-20mb", "paced-20mb"}, "2x local.large");
  const double speedup = answered(asked).speedup;
  asked.compute_slowdown = 0.2;
  EXPECT_LT(answered(asked).speedup, speedup);
}

InterleaveRequest request(std::vector<std::string> jobs) {
  return {.jobs = std::move(jobs), .cluster = "4x local.medium", .batch_per_worker = {32}};
}

std::string error_of(const InterleaveRequest& asked) {
  const auto inputs = load_interleave_inputs({}, asked);
  EXPECT_FALSE(inputs.ok());
  return inputs.ok() ? "" : inputs.error().message;
}

// One epoch of 50,000 samples in batches of 4 · 32: 391 iterations.
TEST(InterleaveInputs, PredictsEachJobToItsGoal) {
  const auto inputs = load_interleave_inputs({}, request({"paced-20mb", "paced-5mb"}));
  ASSERT_TRUE(inputs.ok()) << inputs.error().message;
  ASSERT_EQ(inputs->jobs.size(), 2U);
  const JobAlone& first = inputs->jobs[0];
  EXPECT_EQ(first.job.name, "paced-20mb");
  EXPECT_EQ(first.job.iterations, 391);
  EXPECT_EQ(first.job.alone, first.prediction.iteration.mean);
  EXPECT_NEAR(first.job.alone.in(kSecond), total(step_parts(first.job.setup)).in(kSecond), 1e-9);
  EXPECT_GT(first.job.deviation, 0);
  EXPECT_TRUE(inputs->shared.rate.has_value());
  EXPECT_EQ(inputs->shared.memory.size(), 1U);
}

TEST(InterleaveInputs, NumbersJobsOfTheSameName) {
  const auto inputs = load_interleave_inputs({}, request({"paced-5mb", "paced-5mb"}));
  ASSERT_TRUE(inputs.ok());
  EXPECT_EQ(inputs->jobs[0].job.name, "paced-5mb");
  EXPECT_EQ(inputs->jobs[1].job.name, "paced-5mb (2)");
}

TEST(InterleaveInputs, TakesOneValueForAllOrOneForEach) {
  InterleaveRequest asked = request({"paced-5mb", "paced-20mb"});
  asked.batch_per_worker = {32, 64};
  asked.iterations = {100};
  asked.deadlines = {1 * kHour, 2 * kHour};
  const auto inputs = load_interleave_inputs({}, asked);
  ASSERT_TRUE(inputs.ok()) << inputs.error().message;
  EXPECT_EQ(inputs->jobs[0].prediction.global_batch, 128);
  EXPECT_EQ(inputs->jobs[1].prediction.global_batch, 256);
  EXPECT_EQ(inputs->jobs[1].job.iterations, 100);
  EXPECT_EQ(inputs->jobs[1].job.deadline, 2 * kHour);
  asked.iterations = {1, 2, 3};
  EXPECT_EQ(error_of(asked), "--iterations has 3 values for 2 jobs; give one for all or one each");
}

TEST(InterleaveInputs, SaysThatSamplesAreKeptAtABatchThatIsNotKnown) {
  InterleaveRequest asked = request({"paced-5mb", "paced-5mb"});
  asked.batch_per_worker = {64};
  const auto inputs = load_interleave_inputs({}, asked);
  ASSERT_TRUE(inputs.ok());
  EXPECT_EQ(inputs->jobs[0].job.iterations, 196);  // 391 · 128 / 256, rounded up.
  bool told = false;
  for (const std::string& it : inputs->jobs[0].assumptions) {
    told = told || it.find("as many samples at a global batch of 256") != std::string::npos;
  }
  EXPECT_TRUE(told);
}

TEST(InterleaveInputs, NeedsTwoJobs) {
  EXPECT_EQ(error_of(request({"paced-5mb"})).substr(0, 29), "two or more jobs are required");
}

TEST(InterleaveInputs, TakesNoMoreJobsThanItCanPair) {
  const std::vector<std::string> jobs(300, "paced-5mb");
  EXPECT_EQ(error_of(request(jobs)),
            "--jobs takes at most 24 jobs, not 300: every two are assessed");
}

TEST(InterleaveInputs, RefusesAJobThatDoesNotFitByItself) {
  InterleaveRequest asked{.jobs = {kExampleJob, kExampleJob},
                          .cluster = "2x g4dn.12xlarge",
                          .batch_per_worker = {4096}};
  const auto inputs = load_interleave_inputs({}, asked);
  ASSERT_FALSE(inputs.ok());
  EXPECT_EQ(inputs.error().kind, ErrorKind::kInfeasible);
}

TEST(InterleaveInputs, PassesOnWhatIsWrongWithJobsAndClusters) {
  EXPECT_NE(error_of(request({"paced-5mb", "no-such-job"})).find("no-such-job"), std::string::npos);
  InterleaveRequest asked = request({"paced-5mb", "paced-5mb"});
  asked.cluster = "2x no.such.vm";
  EXPECT_NE(error_of(asked).find("no.such.vm"), std::string::npos);
}

}  // namespace

}  // namespace stint
