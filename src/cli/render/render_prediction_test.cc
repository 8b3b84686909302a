#include "cli/render/render_prediction.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

Prediction prediction() {
  return {.cluster = *parse_cluster("2x a + 1x b"),
          .iteration = {.mean = 200 * kMillisecond,
                        .p10 = 180 * kMillisecond,
                        .p90 = 222 * kMillisecond,
                        .parts = {.forward = 50 * kMillisecond,
                                  .backward = 100 * kMillisecond,
                                  .exposed_communication = 45 * kMillisecond,
                                  .update = 5 * kMillisecond}},
          .throughput_samples_per_second = 500,
          .cost_per_million_samples = 4.5 * kDollar,
          .memory = MemoryVerdict{.needed = 7 * kGB, .available = 15 * kGB},
          .global_batch = 100,
          .groups = {{.vm = "x/a", .device = "A", .vms = 2, .batches = {{2, 30, 0.3}}},
                     {.vm = "x/b", .device = "B", .vms = 1, .batches = {{1, 40, 0.4}}}},
          .price = PriceUsed{.rate = 9 * kDollar / kHour,
                             .region = "here",
                             .date = {.year = 2026, .month = 7, .day = 20}},
          .assumptions = {"The moon is round."}};
}

TEST(PredictionSheet, SaysWhereTheTimeGoesAndWhatItCosts) {
  EXPECT_EQ(prediction_sheet("job", prediction(), {.width = 0}),
            "job on 2x a + 1x b: 3 workers, global batch 100\n"
            "\n"
            "forward            50.0 ms  25.0 %  ##########\n"
            "backward            100 ms  50.0 %  ####################\n"
            "communication      45.0 ms  22.5 %  #########\n"
            "straggling         0.00 ms   0.0 %\n"
            "input              0.00 ms   0.0 %\n"
            "update             5.00 ms   2.5 %  #\n"
            "iteration           200 ms  80 % between 180 ms and 222 ms\n"
            "\n"
            "throughput      500 samples/s\n"
            "cost            $4.50 per million samples ($9.00/h in here, price of 2026-07-20)\n"
            "memory          fits: 7.0 GB of 15.0 GB usable per worker\n"
            "batch           x/a: 2 x 30 (gradient weight 0.3000 each)\n"
            "batch           x/b: 1 x 40 (gradient weight 0.4000 each)\n"
            "assumed         The moon is round.\n");
}

TEST(PredictionSheet, SaysWhatIsNotKnown) {
  Prediction it = prediction();
  it.cost_per_million_samples.reset();
  it.memory.reset();
  const std::string text = prediction_sheet("job", it, {.width = 0});
  EXPECT_NE(text.find("no region has a price"), std::string::npos);
  EXPECT_NE(text.find("memory          unknown"), std::string::npos);
}

TEST(ChangeTable, ShowsTheDifferenceOfEachPart) {
  Prediction after = prediction();
  after.iteration.parts.exposed_communication = 25 * kMillisecond;
  after.iteration.mean = 180 * kMillisecond;
  after.cost_per_million_samples.reset();
  const std::string text = change_table(prediction(), after, {.width = 0});
  EXPECT_NE(text.find("-20.0 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("-44.4 %"), std::string::npos) << text;
  EXPECT_NE(text.find("-10.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("unknown"), std::string::npos) << text;
}

TEST(ChangeJson, HoldsBeforeAfterAndTheDifference) {
  Prediction after = prediction();
  after.iteration.parts.exposed_communication = 25 * kMillisecond;
  after.iteration.mean = 180 * kMillisecond;
  const Json json = change_json("job", prediction(), after);
  const Json* parts = json.find("difference")->find("parts");
  EXPECT_NEAR(*parts->find("exposed_communication_s")->as<double>(), -0.02, 1e-12);
  EXPECT_NEAR(*parts->find("forward_s")->as<double>(), 0, 1e-12);
  EXPECT_EQ(*json.find("after")->find("schema")->as<std::string>(), kPredictionSchema);
}

TEST(MemoryProblem, SaysHowMuchIsMissingAndWhatWouldFit) {
  Prediction it = prediction();
  it.memory = MemoryVerdict{.fits = false, .needed = 21 * kGB, .available = 15 * kGB};
  EXPECT_NE(memory_problem(it).find("6.0 GB more than the 15.0 GB"), std::string::npos);
  EXPECT_NE(memory_problem(it).find("not even one sample"), std::string::npos);
  it.fitting = FittingBatch{.batch_per_worker = 10, .accumulation = 4};
  EXPECT_NE(memory_problem(it).find("--global-batch 100 --accumulation 4"), std::string::npos);
  it.fitting->global_batch = 96;
  EXPECT_NE(memory_problem(it).find("'--global-batch 96 --accumulation 4' is close and fits"),
            std::string::npos);
  it.fitting->global_batch.reset();
  // Three workers with 10 in 4 micro-steps are 120 samples.
  it.global_batch = 120;
  EXPECT_NE(memory_problem(it).find("--batch-per-worker 10 --accumulation 4"), std::string::npos);
}

TEST(RenderPrediction, ACalibrationTellsItsAgeAndError) {
  CalibrationRecord record{.name = "lab", .date = {.year = 2026, .month = 11, .day = 1}};
  const Date today{.year = 2026, .month = 11, .day = 4};
  EXPECT_EQ(calibration_text(record, today),
            "calibration lab of 2026-11-01, 3 days old; error unknown");
  record.error =
      AccuracyRecord{.name = "all", .split = "leave-one-cluster-size-out", .n = 24, .mape = 0.0123};
  EXPECT_EQ(
      calibration_text(record, today),
      "calibration lab of 2026-11-01, 3 days old; error 1.2 % on held-out cluster sizes (n 24)");
  EXPECT_NE(calibration_text(record, {.year = 2026, .month = 10, .day = 4}).find("in the future"),
            std::string::npos);
}

}  // namespace
}  // namespace stint::cli
