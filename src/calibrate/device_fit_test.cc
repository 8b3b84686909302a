#include "calibrate/device_fit.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

Catalog three_gpus() {
  const auto gpu = [](const char* name, double teraflops, double gigabytes) {
    return Gpu{.name = name,
               .memory_bandwidth = gigabytes * kGB / kSecond,
               .fp32 = teraflops * kTeraflop / kSecond};
  };
  return {.gpus = {gpu("A", 4, 200), gpu("B", 10, 700), gpu("C", 16, 900)}};
}

StepRow row(const std::string& job, const std::string& device, double batch, double seconds) {
  return {.job = job,
          .device = device,
          .workers_by_vm = {1},
          .batch_per_worker = batch,
          .time = seconds * kSecond};
}

TEST(DevicePairs, AreOfOneJobAndBatchInBothDirections) {
  const Catalog catalog = three_gpus();
  std::vector<StepRow> rows = {row("j", "A", 8, 4), row("j", "B", 8, 2), row("j", "C", 16, 1),
                               row("k", "B", 8, 1), row("j", "Unheard-of", 8, 1)};
  rows.push_back(row("k", "C", 8, 1));
  rows.back().workers_by_vm = {2};
  const auto pairs = device_pairs(rows, catalog);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].from->name, "A");
  EXPECT_DOUBLE_EQ(pairs[0].ratio, 0.5);
  EXPECT_DOUBLE_EQ(pairs[1].ratio, 2);
}

// Times drawn with a share of 0.3 from A to the others give the share back from those pairs.
TEST(FitDevices, FindsTheShareThatMadeTheTimes) {
  constexpr std::uint64_t kSeed = 3;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  const Catalog catalog = three_gpus();
  std::vector<DevicePair> pairs;
  for (const char* job : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    for (const Gpu* to : {&catalog.gpus[1], &catalog.gpus[2]}) {
      const double ratio = *device_ratio(catalog.gpus[0], *to, 0.3);
      pairs.push_back({.job = job,
                       .from = catalog.gpus.data(),
                       .to = to,
                       .ratio = ratio * std::exp(0.02 * random.normal())});
    }
  }
  const auto fit = fit_devices(pairs);
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_NEAR(fit->law.compute_share, 0.3, 0.1);
  EXPECT_LT(fit->law.spread, 0.05);
  EXPECT_EQ(fit->jobs.size(), 8U);
  EXPECT_TRUE(validate(to_calibration(*fit, "devices")).ok());
}

TEST(FitDevices, NeedsTwoJobs) { EXPECT_FALSE(fit_devices({}).ok()); }

}  // namespace
}  // namespace stint
