#include "predict/worker_group.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <vector>

#include "base/random.h"
#include "predict/predictor_fixture.h"

namespace stint {
namespace {

WorkerSpeed speed(double fixed_ms, double per_sample_ms) {
  return {.fixed = fixed_ms * kMillisecond, .per_sample = per_sample_ms * kMillisecond};
}

/// The batches of all workers, kind by kind.
std::vector<int> split(int batch, const std::vector<WorkerKind>& kinds) {
  std::vector<KindShare> shares(kinds.size());
  split_batch(batch, kinds, shares);
  std::vector<int> batches;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (int worker = 0; worker < kinds[k].workers; ++worker) {
      batches.push_back(shares[k].largest - (worker < shares[k].busiest ? 0 : 1));
    }
  }
  return batches;
}

/// Hands out sample by sample, each to the worker that would be done first with it.
std::vector<int> one_by_one(int batch, const std::vector<WorkerKind>& kinds) {
  std::vector<WorkerSpeed> speeds;
  for (const WorkerKind& kind : kinds) {
    speeds.insert(speeds.end(), static_cast<std::size_t>(kind.workers), kind.speed);
  }
  std::vector<int> batches(speeds.size(), 1);
  for (int left = batch - static_cast<int>(speeds.size()); left > 0; --left) {
    std::size_t next = 0;
    const auto done = [&](std::size_t k) {
      return speeds[k].fixed + (batches[k] + 1) * speeds[k].per_sample;
    };
    for (std::size_t k = 1; k < speeds.size(); ++k) {
      if (done(k) < done(next)) next = k;
    }
    ++batches[next];
  }
  return batches;
}

Seconds slowest(const std::vector<WorkerSpeed>& workers, const std::vector<int>& batches) {
  Seconds time;
  for (std::size_t k = 0; k < workers.size(); ++k) {
    time = std::max(time, workers[k].fixed + batches[k] * workers[k].per_sample);
  }
  return time;
}

/// The best over all splits, by trying each.
Seconds brute_force(const std::vector<WorkerSpeed>& workers, int left, std::vector<int>& taken) {
  if (taken.size() + 1 == workers.size()) {
    taken.push_back(left);
    const Seconds time = slowest(workers, taken);
    taken.pop_back();
    return time;
  }
  const int others = static_cast<int>(workers.size() - taken.size()) - 1;
  Seconds best = 1e9 * kSecond;
  for (int batch = 1; batch <= left - others; ++batch) {
    taken.push_back(batch);
    best = std::min(best, brute_force(workers, left - batch, taken));
    taken.pop_back();
  }
  return best;
}

// One worker three times as fast as the other: 30 of 40 samples, both done after 30 ms.
TEST(SplitBatch, FollowsTheSpeed) {
  EXPECT_EQ(split(40, {{1, speed(0, 1)}, {1, speed(0, 3)}}), (std::vector<int>{30, 10}));
}

TEST(SplitBatch, EqualWorkersDifferByAtMostOne) {
  EXPECT_EQ(split(11, {{3, speed(5, 2)}}), (std::vector<int>{4, 4, 3}));
  EXPECT_EQ(split(11, {{1, speed(5, 2)}, {2, speed(5, 2)}}), (std::vector<int>{4, 4, 3}));
}

TEST(SplitBatch, GivesEveryWorkerASample) {
  EXPECT_EQ(split(10, {{1, speed(0, 1)}, {1, speed(1000, 1000)}}), (std::vector<int>{9, 1}));
}

TEST(SplitBatch, EqualsBruteForceOverAllSplits) {
  constexpr int kSeed = 12;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<WorkerKind> kinds;
    std::vector<WorkerSpeed> speeds;
    for (int k = 0; k < 1 + random.below(4); ++k) {
      speeds.push_back(speed(random.uniform(0, 10), random.uniform(0.1, 5)));
      kinds.push_back({1, speeds.back()});
    }
    const int batch = static_cast<int>(speeds.size()) + random.below(16);
    std::vector<int> taken;
    EXPECT_EQ(slowest(speeds, split(batch, kinds)), brute_force(speeds, batch, taken));
  }
}

TEST(SplitBatch, EqualsHandingOutOneByOneWithTies) {
  constexpr int kSeed = 13;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<WorkerKind> kinds;
    int workers = 0;
    for (int k = 0; k < 1 + random.below(4); ++k) {
      // Whole numbers, so that workers of different kinds are often done at the same moment.
      kinds.push_back({1 + random.below(5), speed(random.below(4), 1 + random.below(3))});
      workers += kinds.back().workers;
    }
    const int batch = workers + random.below(60);
    EXPECT_EQ(split(batch, kinds), one_by_one(batch, kinds)) << "trial " << trial;
  }
}

TEST(WorkerGroup, CountsVmsAndWorkersOfAllGroups) {
  std::array<WorkerGroup, 2> groups{WorkerGroup{.vms = 2, .workers_per_vm = 4},
                                    WorkerGroup{.vms = 3, .workers_per_vm = 1}};
  const Workers cluster{.groups = groups};
  EXPECT_EQ(cluster.vms(), 5);
  EXPECT_EQ(cluster.workers(), 11);
}

// On a T4 a batch of 10 takes 10 · 3 ms and an update of 2 ms.
TEST(WorkerGroup, AWorkerAloneComputesAndUpdates) {
  const PredictFixture fixture;
  const auto resolved = fixture.resolved("2x slow.1", {.global_batch = 20});
  ASSERT_TRUE(resolved.ok());
  EXPECT_NEAR(alone_time(resolved->groups[0].times, 10).in(kMillisecond), 32, 1e-9);
}

TEST(WorkerGroup, EqualWorkersShareEvenlyAndTheRestGoesToTheFirst) {
  const PredictFixture fixture;
  const auto resolved = fixture.resolved("3x slow.1", {.global_batch = 20});
  ASSERT_TRUE(resolved.ok());
  EXPECT_EQ(resolved->groups[0].batches, (std::vector<int>{7, 7, 6}));
}

}  // namespace

}  // namespace stint
