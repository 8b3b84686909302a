#include "cli/render/render_profile.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

Timing ms(double median) {
  return {.median = median * kMillisecond, .spread = 0.5 * kMillisecond, .count = 10};
}

ProfileReport example() {
  ProfileSummary run;
  run.start.world = 2;
  run.steps = 10;
  run.compute = {.device = "T4",
                 .batch_per_worker = 32,
                 .forward = ms(10),
                 .backward = ms(20),
                 .update = ms(3),
                 .peak_memory = 500 * kMB};
  run.exposed = ms(7);
  run.buckets = {{.bytes = 1 * kMB, .ready = 0.25, .reduce = ms(4)}, {.bytes = 9 * kMB}};
  ProfileReport report{.runs = {run}};
  report.job.name = "cnn";
  report.job.gradient_bytes = 10 * kMB;
  report.job.parameter_bytes = 10 * kMB;
  report.job.optimizer_bytes = 20 * kMB;
  return report;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RenderProfile, ShowsTimesBucketsAndSizes) {
  const std::string text = profile_text(example(), {.width = 0});
  EXPECT_TRUE(text.starts_with("cnn on T4, 2 workers\n")) << text;
  EXPECT_TRUE(holds(text, "20.0 ms ± 0.5")) << text;
  EXPECT_TRUE(holds(text, "500 MB")) << text;
  EXPECT_TRUE(holds(text, "25 %")) << text;
  EXPECT_TRUE(holds(text, "Gradients 10 MB, parameters 10 MB, state of the optimizer 20 MB"));
  EXPECT_TRUE(holds(text, "Not measured: that takes several workers"));
}

TEST(RenderProfile, SaysWhyBucketsWereNotTimed) {
  ProfileReport report = example();
  report.communication = "the script has a communication hook of its own";
  EXPECT_TRUE(holds(profile_text(report, {.width = 0}),
                    "Not timed: the script has a communication hook of its own."));
}

TEST(RenderProfile, NoiseHasAnIntervalOrOnlyALowerBound) {
  ProfileReport report = example();
  report.noise = {{.record = {.batch = 64}, .samples = 4, .scale = 120, .lower = 80, .upper = 200}};
  EXPECT_TRUE(holds(profile_text(report, {.width = 0}),
                    "120 samples (80–200), from 4 iterations at a batch of 64."));
  report.noise[0].upper.reset();
  EXPECT_TRUE(holds(profile_text(report, {.width = 0}), "120 samples (80 or more), "));
  report.noise[0].scale.reset();
  EXPECT_TRUE(holds(profile_text(report, {.width = 0}), "At least 80 samples, "));
}

}  // namespace
}  // namespace stint::cli
