#include "calibrate/device/mlperf_effects.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

Gpu gpu(const char* name, const char* architecture, double teraflops, double gigabytes) {
  return {.name = name,
          .architecture = architecture,
          .memory_bandwidth = gigabytes * kGB / kSecond,
          .fp16 = teraflops * kTeraflop / kSecond,
          .link_bandwidth = 600 * kGB / kSecond};
}

const Gpu kOld = gpu("old", "Ampere", 100, 500);
const Gpu kMiddle = gpu("middle", "Ampere", 200, 1000);
const Gpu kNew = gpu("new", "Turing", 400, 2000);

/// Twice of everything halves the time of a sample, from 8 ms on the oldest.
BenchmarkPoint point(const char* benchmark, const Gpu& on, const char* submitter = "Dell") {
  return {.benchmark = benchmark,
          .submitter = submitter,
          .gpu = &on,
          .round = 2,
          .log_time = std::log(0.008 / (*on.fp16 / *kOld.fp16))};
}

TEST(MlperfEffects, CarriesABenchmarkByDataSheets) {
  const BenchmarkTimes times =
      BenchmarkTimes::fit({point("resnet", kOld), point("resnet", kMiddle), point("ssd", kOld)});
  EXPECT_NEAR(std::exp(times.estimate(point("resnet", kNew)).mean), 0.002, 0.0001);
  EXPECT_NEAR(std::exp(times.estimate(point("ssd", kMiddle)).mean), 0.004, 0.0002);
}

TEST(MlperfEffects, IsSurerOfAnAcceleratorThatWasMeasured) {
  const BenchmarkTimes times =
      BenchmarkTimes::fit({point("resnet", kOld), point("resnet", kMiddle)});
  EXPECT_LT(times.estimate(point("resnet", kMiddle)).deviation,
            times.estimate(point("resnet", kNew)).deviation);
}

TEST(MlperfEffects, ExpectsLanguageModelsToGainFromEightBits) {
  const BenchmarkTimes times = BenchmarkTimes::fit({point("bert", kMiddle), point("ssd", kMiddle)});
  Gpu eight = kMiddle;
  eight.name = "eight";
  eight.architecture = "Hopper";
  const auto gain = [&](const char* benchmark) {
    return times.estimate(point(benchmark, kMiddle)).mean -
           times.estimate(point(benchmark, eight)).mean;
  };
  EXPECT_NEAR(gain("bert") - gain("ssd"), 0.5 * std::log(2.0), 0.05);
  EXPECT_TRUE(has_fp8(eight));
  EXPECT_FALSE(has_fp8(kMiddle));
}

TEST(MlperfEffects, IsUnsureOfDataSheetsOfOtherMakers) {
  const BenchmarkTimes times =
      BenchmarkTimes::fit({point("resnet", kOld), point("resnet", kMiddle)});
  Gpu other = kMiddle;
  other.name = "other";
  other.architecture = "Gaudi2";
  EXPECT_GT(times.estimate(point("resnet", other)).deviation, 0.5);
}

}  // namespace
}  // namespace stint
