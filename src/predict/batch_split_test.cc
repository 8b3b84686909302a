#include "predict/batch_split.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "base/random.h"

namespace stint {
namespace {

WorkerSpeed speed(double fixed_ms, double per_sample_ms) {
  return {.fixed = fixed_ms * kMillisecond, .per_sample = per_sample_ms * kMillisecond};
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
  const std::vector<WorkerSpeed> workers = {speed(0, 1), speed(0, 3)};
  EXPECT_EQ(split_batch(40, workers), (std::vector<int>{30, 10}));
}

TEST(SplitBatch, EqualWorkersDifferByAtMostOne) {
  const std::vector<WorkerSpeed> workers(3, speed(5, 2));
  EXPECT_EQ(split_batch(11, workers), (std::vector<int>{4, 4, 3}));
}

TEST(SplitBatch, GivesEveryWorkerASample) {
  const std::vector<WorkerSpeed> workers = {speed(0, 1), speed(1000, 1000)};
  EXPECT_EQ(split_batch(10, workers), (std::vector<int>{9, 1}));
}

TEST(SplitBatch, EqualsBruteForceAndKeepsTheGlobalBatch) {
  constexpr int kSeed = 12;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<WorkerSpeed> workers;
    for (int k = 0; k < 1 + random.below(4); ++k) {
      workers.push_back(speed(random.uniform(0, 10), random.uniform(0.1, 5)));
    }
    const int batch = static_cast<int>(workers.size()) + random.below(16);
    const std::vector<int> split = split_batch(batch, workers);
    EXPECT_EQ(std::accumulate(split.begin(), split.end(), 0), batch);
    EXPECT_GE(*std::min_element(split.begin(), split.end()), 1);
    std::vector<int> taken;
    EXPECT_NEAR(slowest(workers, split).in(kMillisecond),
                brute_force(workers, batch, taken).in(kMillisecond), 1e-9);
  }
}

// Worker means 2 over 30 samples and 6 over 10: the mean over all 40 is (60 + 60)/40 = 3.
TEST(GradientWeights, GiveTheMeanOverAllSamples) {
  const std::vector<int> batches = {30, 10};
  const std::vector<double> weights = gradient_weights(batches);
  EXPECT_DOUBLE_EQ(weights[0] * 2 + weights[1] * 6, 3);
}

}  // namespace
}  // namespace stint
