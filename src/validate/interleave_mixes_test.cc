#include "validate/interleave_mixes.h"

#include <gtest/gtest.h>
#include <set>

namespace stint {
namespace {

MixRow row(const std::string& job, std::vector<int> workers, double time, double sync) {
  return {.job = job,
          .workers_by_vm = std::move(workers),
          .measured = time * kSecond,
          .synchronised = sync * kSecond};
}

MixTable table() {
  return {{{4}, {row("a", {4}, 1, 0.1), row("b", {4}, 1, 0.1)}},
          {{1, 1}, {row("a", {1, 1}, 1, 0.1)}},
          {{2, 2}, {row("a", {2, 2}, 0.9, 0.3), row("b", {2, 2}, 1, 0.5)}}};
}

TEST(JobMix, IsOfOnePlacementThatSeveralJobsHave) {
  constexpr int kSeed = 75;
  Random random(kSeed);
  const MixTable rows = table();
  std::set<std::string> names;
  for (int trial = 0; trial < 20; ++trial) {
    const JobMix mix = draw_mix(rows, 5, random);
    EXPECT_EQ(mix.vms, 2);
    ASSERT_EQ(mix.jobs.size(), 5U);
    for (const MixJob& job : mix.jobs) {
      EXPECT_EQ(job.row->workers_by_vm, (std::vector<int>{2, 2}));
      const double hours = (job.iterations * job.row->measured).in(kHour);
      EXPECT_GE(hours, 1 - 1e-9);
      EXPECT_LE(hours, 10 + 1e-9);
      names.insert(job.row->job);
    }
  }
  EXPECT_EQ(names.size(), 2U);
}

TEST(JobMix, NeedsAPlacementOfSeveralVms) {
  MixTable rows = table();
  EXPECT_TRUE(has_mixes(rows));
  rows.erase({2, 2});
  EXPECT_FALSE(has_mixes(rows));
}

// 0.6 s of computing and 0.3 s of synchronisation: alone it takes what was measured, whether the
// network was idle before or busy for the 0.4 s of backward.
TEST(MeasuredJob, TakesAloneWhatWasMeasured) {
  const MixRow measured = row("a", {2, 2}, 0.9, 0.3);
  for (const NetworkWhile network : {NetworkWhile::kIdle, NetworkWhile::kBusy}) {
    const ShareJob job = measured_job({.row = &measured, .iterations = 7}, network);
    EXPECT_NEAR(total(step_parts(job.setup)).in(kSecond), 0.9, 1e-9);
    EXPECT_NEAR(job.alone.in(kSecond), 0.9, 1e-9);
    EXPECT_EQ(job.iterations, 7);
    const double sync = bucket_time(job.setup.buckets[0].bytes, job.setup).in(kSecond);
    EXPECT_NEAR(sync, network == NetworkWhile::kBusy ? 0.7 : 0.3, 1e-9);
  }
}

TEST(PredictedJob, IsWhatTheLawSays) {
  MixRow it = row("a", {2, 2}, 0.9, 0.3);
  it.alone = 0.8 * kSecond;
  it.deviation = 0.1;
  const ShareJob job = predicted_job({.row = &it, .iterations = 7});
  EXPECT_EQ(job.alone, 0.8 * kSecond);
  EXPECT_EQ(job.deviation, 0.1);
}

}  // namespace
}  // namespace stint
