#include "cli/render/render_import.h"

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
  EXPECT_TRUE(holds(text, "Gradients 10 MB, parameters 10 MB, optimizer state 20 MB"));
  EXPECT_TRUE(holds(text, "Not measured: this needs several workers"));
}

TEST(RenderProfile, SaysWhyBucketsWereNotTimed) {
  ProfileReport report = example();
  report.communication = "the script has a communication hook of its own";
  EXPECT_TRUE(holds(profile_text(report, {.width = 0}),
                    "Not timed: the script has a communication hook of its own."));
}

TEST(RenderProfile, SaysHowTheScriptTrainsAndWhyOneBatchWasMeasured) {
  ProfileReport report = example();
  EXPECT_FALSE(holds(profile_text(report, {.width = 0}), "precision"));
  report.one_batch = "its DataLoader reads an IterableDataset";
  report.job.training = TrainingMethod{.optimizers = {"Adam", "SGD", "Adam"},
                                       .accumulation = 4,
                                       .parameters = {"float32"},
                                       .autocast = "bfloat16",
                                       .tf32 = {"matmul"},
                                       .gradient_scaler = true,
                                       .clipping = {"norm"},
                                       .frozen = 3 * kMB,
                                       .loader_workers = 2,
                                       .compiled = true,
                                       .checkpointing = true};
  const std::string text = profile_text(report, {.width = 0});
  EXPECT_TRUE(holds(text,
                    "One batch was measured, the script's own: its DataLoader reads an "
                    "IterableDataset."))
      << text;
  EXPECT_TRUE(holds(text,
                    "float32 parameters, autocast to bfloat16, TF32 for matmul, gradient "
                    "scaler."))
      << text;
  EXPECT_TRUE(holds(text,
                    "2 x Adam, SGD, accumulation over 4 micro-steps, clipping by norm, 3 MB "
                    "of parameters frozen, activation checkpointing, torch.compile, "
                    "DataLoader with 2 workers."))
      << text;
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

TraceProfile profile() {
  TraceProfile it{.events = 12,
                  .files = 2,
                  .workers = 2,
                  .workers_from = "the number of files",
                  .rhythm = TraceRhythm::kProfilerSteps,
                  .device = "cpu",
                  .iteration = {.median = 100 * kMillisecond, .spread = Seconds{}, .count = 3},
                  .forward = Timing{.median = 20 * kMillisecond},
                  .gradients = 4 * kMB};
  it.buckets = {{.bytes = 4 * kMB, .ready = 0.5}};
  it.gaps = {{"the batch", "give it"}};
  it.notes = {"odd"};
  return it;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(RenderImport, ShowsWhatWasFoundAndWhatWasNot) {
  const std::string text = trace_text(profile(), {});
  for (const char* part : {"100 ms", "20.0 ms", "4 MB", "50 % of backward", "12 events in 2 files",
                           "from ProfilerStep", "the batch; give it", "odd"}) {
    EXPECT_TRUE(has(text, part)) << part << " in " << text;
  }
  EXPECT_FALSE(has(text, "waiting for data"));
}

TEST(RenderImport, WritesTheSameForPrograms) {
  const Json json = trace_json(profile());
  EXPECT_EQ(*json.find("workers"), Json(2));
  EXPECT_NEAR(*json.find("iteration")->find("median_s")->as<double>(), 0.1, 1e-12);
  EXPECT_EQ(json.find("backward"), nullptr);
  EXPECT_EQ(json.find("job"), nullptr);
  EXPECT_EQ(json.find("not_found")->as<Json::Array>()->size(), 1U);
}

TEST(RenderImport, ShowsCollectives) {
  NcclTable table{.wrong = 1};
  NcclRow row;
  row.row = {.cluster = "a100",
             .vms = 2,
             .workers = 4,
             .collective = "all_reduce",
             .payload = 1 * kMiB,
             .time = 100 * kMicrosecond};
  table.rows.push_back(row);
  const std::string text = nccl_text(table, {});
  EXPECT_TRUE(has(text, "1048576 B")) << text;
  EXPECT_TRUE(has(text, "100 us")) << text;
  EXPECT_TRUE(has(text, "1 line with wrong results")) << text;
  const Json json = nccl_json(table);
  EXPECT_EQ(json.find("rows")->as<Json::Array>()->size(), 1U);
  EXPECT_EQ(*json.find("wrong"), Json(1));
}

}  // namespace

}  // namespace stint::cli
