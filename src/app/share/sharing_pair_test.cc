#include "app/share/sharing_pair.h"

#include <cmath>
#include <gtest/gtest.h>

#include "interleave/pairing_fixture.h"

namespace stint {
namespace {

// Two jobs of 40 + 20 ms in rounds of 80 ms: 80 s instead of 120 s, at a dollar per 100 s.
TEST(SharingPair, TellsWhatEachGetsAndWhatIsSaved) {
  const std::vector<ShareJob> jobs{plain_job("a", 40, 20), plain_job("b", 40, 20)};
  const ShareCluster cluster{.rate = 0.01 * kDollar / kSecond};
  const SharingModels models{.turns = closed_form_pace};
  const PairTerms terms{.cluster = cluster, .models = models};
  const std::vector<PairJudged> judged = judge_pairs(jobs, terms);
  const SharingPair pair = sharing_pair(jobs, judged.at(0), terms);
  EXPECT_EQ(pair.choice.turns, (std::vector<int>{1, 1}));
  EXPECT_NEAR(pair.choice.speedup, 1.5, 1e-9);
  EXPECT_NEAR(pair.choice.cost->in(kDollar), 0.8, 1e-9);
  EXPECT_NEAR(pair.choice.period->in(kMillisecond), 80, 1e-6);
  const auto& members = pair.choice.members;
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[1].job, "b");
  EXPECT_NEAR(members[1].slowdown, 4.0 / 3, 1e-9);
  EXPECT_NEAR(members[1].iteration.in(kMillisecond), 80, 1e-6);
  EXPECT_NEAR(pair.saved->mean.in(kDollar), 0.4, 1e-9);
}

// 60 ms of computing and 50 of sending that begins with 40 of backward: 70 ms alone, 110 without
// overlap. The formula, which knows no overlap, has rounds of 120 ms: 120 s instead of 140 or 220.
TEST(SharingVerdict, StatesAllWaysAndSeparately) {
  std::vector<ShareJob> jobs{plain_job("a", 60, 50), plain_job("b", 60, 50)};
  for (ShareJob& job : jobs) {
    job.setup.buckets[0].ready = 0;
    job.alone = total(step_parts(job.setup));
  }
  const ShareCluster cluster;
  const SharingModels models{.turns = closed_form_pace, .freely = [](const SharingQuestion&) {
                               return SharedPace{.slowdown = {3, 3}};
                             }};
  const PairTerms terms{.cluster = cluster, .models = models};
  const SharingVerdict it = sharing_verdict(jobs, judge_pairs(jobs, terms).at(0), terms);
  EXPECT_EQ(it.jobs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(it.recommended, SharingMode::kBucket);
  EXPECT_FALSE(it.reason.has_value());
  ASSERT_EQ(it.options.size(), 4U);
  EXPECT_NEAR(it.options[0].speedup, 140.0 / 120, 1e-9);
  EXPECT_NEAR(it.options[0].speedup_without_overlap, 220.0 / 120, 1e-9);
  const SharingChoice& separately = it.options[2];
  EXPECT_EQ(separately.mode, SharingMode::kSeparately);
  EXPECT_NEAR(separately.time.in(kSecond), 140, 1e-6);
  EXPECT_NEAR(separately.speedup_without_overlap, 220.0 / 140, 1e-9);
  EXPECT_NEAR(separately.members.at(1).iteration.in(kMillisecond), 70, 1e-6);
  EXPECT_EQ(it.options[3].mode, SharingMode::kFreely);
  EXPECT_FALSE(it.options[3].period.has_value());
}

// 198 instead of 200 ms are not worth it.
TEST(SharingVerdict, PutsBeingSeparateFirstWhereNothingPays) {
  const std::vector<ShareJob> jobs{plain_job("a", 99, 1), plain_job("b", 99, 1)};
  const ShareCluster cluster;
  const SharingModels models{.turns = closed_form_pace};
  const PairTerms terms{.cluster = cluster, .models = models};
  const SharingVerdict it = sharing_verdict(jobs, judge_pairs(jobs, terms).at(0), terms);
  EXPECT_EQ(it.recommended, SharingMode::kSeparately);
  EXPECT_TRUE(it.reason.has_value());
  ASSERT_EQ(it.options.size(), 3U);
  EXPECT_EQ(it.options[0].mode, SharingMode::kSeparately);
}

TEST(SharingPair, SaysNothingInDollarsWithoutAPrice) {
  const std::vector<ShareJob> jobs{plain_job("a", 40, 20), plain_job("b", 40, 20)};
  const ShareCluster cluster;
  const SharingModels models{.turns = closed_form_pace};
  const PairTerms terms{.cluster = cluster, .models = models};
  const SharingPair pair = sharing_pair(jobs, judge_pairs(jobs, terms).at(0), terms);
  EXPECT_FALSE(pair.choice.cost.has_value());
  EXPECT_FALSE(pair.saved.has_value());
}

TEST(LogNormalTime, HoldsEightInTen) {
  const TimeRange range = log_normal_time(10 * kSecond, 0.1);
  EXPECT_NEAR(range.p90.in(kSecond), 10 * std::exp(0.12816), 1e-3);
  EXPECT_NEAR(range.p10.in(kSecond), 10 * std::exp(-0.12816), 1e-3);
}

}  // namespace
}  // namespace stint
