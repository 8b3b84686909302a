#include "measure/trace/trace_profile.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

/// An iteration of `time` ms with two buckets of 1 and 3 MB.
TraceIteration iteration(double time) {
  return {.time = time * kMillisecond,
          .forward = 20 * kMillisecond,
          .backward = 40 * kMillisecond,
          .update = 5 * kMillisecond,
          .input = 8 * kMillisecond,
          .batch = 32,
          .reductions = {{.bytes = 1 * kMB, .ready = 0.25}, {.bytes = 3 * kMB, .ready = 1}}};
}

RankTrace rank_of(std::vector<double> times) {
  RankTrace rank{.source = "a.json", .events = 10, .loads_itself = true};
  rank.found.rhythm = TraceRhythm::kProfilerSteps;
  for (const double time : times) rank.found.iterations.push_back(iteration(time));
  return rank;
}

bool has_gap(const TraceProfile& profile, std::string_view part) {
  for (const TraceGap& gap : profile.gaps) {
    if (gap.what.find(part) != std::string::npos) return true;
  }
  return false;
}

// 8 ms for 32 samples are 0.25 ms a sample.
TEST(TraceProfile, MakesAJobOfOneRank) {
  const auto profile = profile_traces({rank_of({90, 100, 110})}, {.name = "job"});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_NEAR(profile->iteration.median.in(kMillisecond), 100, 1e-9);
  EXPECT_EQ(profile->gradients, 4 * kMB);
  ASSERT_TRUE(profile->job);
  const JobProfile& job = *profile->job;
  EXPECT_EQ(job.name, "job");
  ASSERT_EQ(job.buckets.size(), 2U);
  EXPECT_EQ(job.buckets[1].bytes, 3 * kMB);
  EXPECT_NEAR(job.buckets[0].ready, 0.25, 1e-12);
  ASSERT_EQ(job.compute.size(), 1U);
  EXPECT_EQ(job.compute[0].device, "cpu");
  EXPECT_EQ(job.compute[0].batch_per_worker, 32);
  EXPECT_EQ(job.compute[0].backward.count, 3);
  EXPECT_NEAR(job.input_per_sample->in(kMillisecond), 0.25, 1e-9);
  EXPECT_TRUE(validate(job).ok());
  EXPECT_TRUE(has_gap(*profile, "GPU kernels"));
  EXPECT_FALSE(has_gap(*profile, "batch"));
}

TEST(TraceProfile, PutsRanksTogether) {
  std::vector<RankTrace> ranks{rank_of({90, 100}), rank_of({110})};
  auto profile = profile_traces(ranks, {.name = "job"});
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->workers, 2);
  EXPECT_EQ(profile->workers_from, "the number of files");
  EXPECT_EQ(profile->iteration.count, 3);
  EXPECT_EQ(profile->job->batch->reference, 64);
  ranks[0].header = {.rank = 0, .world_size = 4};
  ranks[1].header = {.rank = 1, .world_size = 4};
  profile = profile_traces(ranks, {.name = "job"});
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->workers, 4);
  ASSERT_EQ(profile->notes.size(), 1U);
  EXPECT_EQ(profile->notes[0], "2 of 4 ranks were given");
}

TEST(TraceProfile, RefusesRanksThatDoNotBelongTogether) {
  std::vector<RankTrace> ranks{rank_of({90}), rank_of({90})};
  ranks[0].header = {.rank = 1, .world_size = 4};
  ranks[1].header = {.rank = 1, .world_size = 4};
  EXPECT_NE(profile_traces(ranks, {.name = "j"}).error().message.find("both of rank 1"),
            std::string::npos);
  ranks[1].header = {.rank = 2, .world_size = 8};
  EXPECT_NE(profile_traces(ranks, {.name = "j"}).error().message.find("has 8 ranks"),
            std::string::npos);
}

TEST(TraceProfile, SaysWhatCannotBeFoundAndTakesHints) {
  RankTrace bare = rank_of({100, 100});
  for (TraceIteration& it : bare.found.iterations) {
    it.batch.reset();
    it.input.reset();
    it.reductions = {{.ready = 0.5}};
  }
  const auto profile = profile_traces({bare}, {.name = "job"});
  ASSERT_TRUE(profile.ok());
  EXPECT_FALSE(profile->job);
  for (const char* part : {"size of the gradients", "batch", "waiting for data", "bytes of all"}) {
    EXPECT_TRUE(has_gap(*profile, part)) << part;
  }
  const auto helped = profile_traces(
      {bare}, {.name = "job", .device = "V100", .batch_per_worker = 8, .gradients = 2 * kMB});
  ASSERT_TRUE(helped.ok());
  ASSERT_TRUE(helped->job);
  EXPECT_EQ(helped->job->gradient_bytes, 2 * kMB);
  EXPECT_EQ(helped->job->compute[0].device, "V100");
  EXPECT_FALSE(helped->job->input_per_sample);
}

TEST(TraceProfile, LeavesOutBucketsThatContradictAHint) {
  const auto profile = profile_traces({rank_of({90})}, {.name = "job", .gradients = 9 * kMB});
  ASSERT_TRUE(profile.ok());
  EXPECT_TRUE(profile->job->buckets.empty());
  EXPECT_EQ(profile->notes.size(), 1U);
}

// DDP rebuilds its buckets after the first iteration, so that one may have another number.
TEST(TraceProfile, TakesTheBucketsOfTheUsualIteration) {
  RankTrace rank = rank_of({90, 90, 90});
  rank.found.iterations[0].reductions = {{.bytes = 4 * kMB, .ready = 1}};
  const auto profile = profile_traces({rank}, {.name = "job"});
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->buckets.size(), 2U);
}

TEST(TraceProfile, SaysWhyThereIsNoIteration) {
  RankTrace none{.source = "a.json"};
  EXPECT_NE(profile_traces({none}, {}).error().message.find("no ProfilerStep"), std::string::npos);
  none.found.rhythm = TraceRhythm::kUpdates;
  EXPECT_NE(profile_traces({none}, {}).error().message.find("no backward pass"), std::string::npos);
}

}  // namespace
}  // namespace stint
