#include "calibrate/memory_mark_fit.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

/// Marks of jobs that need 1 GB and 10 MB a sample, alone and in pairs, at batches up to 1,024.
std::vector<MemoryTrial> made_trials(const std::vector<Bytes>& memories) {
  const auto need = [](const SizedJob& job) { return 1 * kGB + job.batch * (10 * kMB); };
  std::vector<MemoryTrial> trials;
  for (const Bytes memory : memories) {
    for (int a = 16; a <= 1024; a *= 2) {
      trials.push_back({{{"net", a}}, memory, need({"net", a}) <= memory});
      for (int b = a; b <= 1024; b *= 2) {
        trials.push_back(
            {{{"net", a}, {"net", b}}, memory, need({"net", a}) + need({"net", b}) <= memory});
      }
    }
  }
  return trials;
}

// With 8 GB one net of 512 (6.1 GB) fits and two (12.2 GB) do not; two of 256 (7.1 GB) do.
TEST(LatentMemory, LearnsNeedsFromMarks) {
  const auto model = LatentMemory::fit(made_trials({4 * kGB, 12 * kGB}));
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_GT(model->probability_fits({{"net", 512}}, 8 * kGB), 0.5);
  EXPECT_LT(model->probability_fits({{"net", 512}, {"net", 512}}, 8 * kGB), 0.5);
  EXPECT_GT(model->probability_fits({{"net", 256}, {"net", 256}}, 8 * kGB), 0.5);
  EXPECT_NEAR(model->need({"net", 512}).in(kGB), 6.1, 1.2);
}

TEST(LatentMemory, MoreMemoryNeverFitsLess) {
  const auto model = LatentMemory::fit(made_trials({8 * kGB}));
  ASSERT_TRUE(model.ok());
  double last = 0;
  for (int memory = 1; memory <= 64; memory *= 2) {
    const double probability = model->probability_fits({{"net", 128}}, memory * kGB);
    EXPECT_GE(probability, last);
    last = probability;
  }
}

// Without marks a job needs 1 + 3 GB, which fits 12 GB and not 2 GB.
TEST(LatentMemory, TakesAnUnseenJobForAnAverageOne) {
  const auto model = LatentMemory::fit(made_trials({8 * kGB}));
  ASSERT_TRUE(model.ok());
  EXPECT_NEAR(model->need({"other", 7}).in(kGB), 4, 1e-9);
  EXPECT_GT(model->probability_fits({{"other", 7}}, 12 * kGB), 0.9);
  EXPECT_LT(model->probability_fits({{"other", 7}}, 2 * kGB), 0.1);
}

}  // namespace
}  // namespace stint
