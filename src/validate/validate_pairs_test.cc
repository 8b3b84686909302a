#include "validate/validate_pairs.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sstream>

#include "base/file.h"

namespace stint {
namespace {

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_pairs_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

constexpr const char* kHeader =
    "gpu,model_a,batch_a,model_b,batch_b,isolated_a_steps_per_s,isolated_b_steps_per_s,"
    "packed_a_steps_per_s,packed_b_steps_per_s,oom,capped_to_isolated\n";

/// A pair in which the first job gets 0.6 of its speed and the second 0.4, on a GPU whose memory
/// the catalogue knows.
std::string row(const std::string& a, const std::string& b, const std::string& device = "K80") {
  return fmt::format("{},{},8,{},16,10,5,6,2,0,0\n", device, a, b);
}

std::string six_pairs() {
  return kHeader + row("one", "two") + row("one", "three") + row("two", "three") +
         row("one", "four") + row("two", "four") + row("three", "four");
}

TEST(ValidatePairs, ScoresBothJobsOfAPair) {
  const auto report = validate_pairs({}, {.train = {file("six.csv", six_pairs())},
                                          .test = {file("one.csv", kHeader + row("one", "two"))}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const Validation& ours = report->validation;
  EXPECT_EQ(ours.what, "pairs");
  EXPECT_EQ(ours.overall.n, 2);
  EXPECT_EQ(ours.jobs.at("one").n, 1);
  EXPECT_EQ(ours.jobs.at("two").n, 1);
  EXPECT_TRUE(ours.overall.coverage80.has_value());
  EXPECT_FALSE(ours.split.has_value());
  // Half speed is 5 instead of 6, and 2.5 instead of 2: 1/6 and 1/4 off.
  const Validation& half = report->beside.front();
  EXPECT_EQ(half.baseline, "half-speed");
  EXPECT_NEAR(half.overall.mape, (1.0 / 6 + 1.0 / 4) / 2, 1e-9);
  EXPECT_FALSE(half.overall.coverage80.has_value());
  EXPECT_LT(ours.overall.mape, half.overall.mape);
  ASSERT_EQ(report->predictions.size(), 1U);
  const PairLine& line = report->predictions.front();
  EXPECT_EQ(line.row, 0U);
  EXPECT_NEAR(*line.first.predicted, 6, 0.5);
  EXPECT_NEAR(*line.second.predicted, 2, 0.25);
  EXPECT_LT(*line.first.p10, *line.first.predicted);
  EXPECT_GT(*line.fits, 0.5);
  EXPECT_EQ(line.note, "");
}

TEST(ValidatePairs, EachJobIsLeftOutWithAllItsPairs) {
  const auto report =
      validate_pairs({}, {.train = {file("six.csv", six_pairs())}, .split = "leave-one-job-out"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const Validation& ours = report->validation;
  // Each of four jobs is in three pairs of two jobs, each scored with both.
  EXPECT_EQ(ours.jobs.size(), 4U);
  EXPECT_EQ(ours.jobs.at("three").n, 6);
  EXPECT_EQ(ours.overall.n, 24);
  ASSERT_EQ(report->predictions.size(), 12U);
  EXPECT_EQ(report->predictions[0].row, 0U);
  EXPECT_EQ(report->predictions[0].note, "without one");
  EXPECT_EQ(report->predictions[1].row, 0U);
  EXPECT_EQ(report->predictions[1].note, "without two");
}

TEST(ValidatePairs, AJobTypeIsAJobAtOneBatch) {
  const auto report = validate_pairs(
      {}, {.train = {file("six.csv", six_pairs())}, .split = "leave-one-job-type-out"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.jobs.at("two (batch 16)").n, 2);
  EXPECT_EQ(report->validation.jobs.at("two (batch 8)").n, 4);
}

TEST(ValidatePairs, APairingIsTwoJobsAtAnyBatch) {
  const auto report =
      validate_pairs({}, {.train = {file("six.csv", six_pairs() + row("two", "one"))},
                          .split = "leave-one-pairing-out"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.jobs.size(), 6U);
  EXPECT_EQ(report->validation.jobs.at("one + two").n, 4);
  EXPECT_EQ(report->predictions.size(), 7U);
}

TEST(ValidatePairs, FifthsPredictEveryRowOnce) {
  const auto report =
      validate_pairs({}, {.train = {file("six.csv", six_pairs())}, .split = "fifths"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 12);
  EXPECT_EQ(report->predictions.size(), 6U);
  EXPECT_EQ(report->validation.split, "fifths");
}

TEST(ValidatePairs, WhatIsUnsteadyOrCappedOrDoesNotFitIsNoHeadline) {
  const std::string test = kHeader + row("one", "two") + row("one", "Recommendation") +
                           "K80,one,8,two,16,10,5,10,5,0,1\nK80,one,8,two,16,10,5,0,0,1,0\n";
  const auto report = validate_pairs(
      {}, {.train = {file("six.csv", six_pairs())}, .test = {file("odd.csv", test)}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const Validation& ours = report->validation;
  EXPECT_EQ(ours.overall.n, 2);
  EXPECT_EQ(ours.overall.skipped, 0);
  EXPECT_EQ(ours.groups.at("K80").n, 2);
  EXPECT_EQ(ours.groups.at("Recommendation").n, 2);
  EXPECT_EQ(ours.groups.at("capped").n, 2);
  EXPECT_EQ(ours.groups.at("fits in memory").n, 4);
  EXPECT_NEAR(*ours.groups.at("fits in memory").accuracy, 0.75, 1e-9);
  EXPECT_EQ(report->predictions.size(), 4U);
  EXPECT_TRUE(report->predictions[3].first.predicted.has_value());
}

TEST(ValidatePairs, WithoutMeasurementsPredictionsAreStillMade) {
  const std::string alone =
      "gpu,model,batch_per_gpu,num_gpus,steps_per_s_all_gpus\nK80,one,8,1,10\nK80,two,16,1,5\n";
  const auto report =
      validate_pairs({}, {.train = {file("six.csv", six_pairs()), file("alone.csv", alone)},
                          .test = {file("bare.csv",
                                        "gpu,model_a,batch_a,model_b,batch_b\nK80,one,8,two,16\n"
                                        "K80,one,8,two,32\nK80,one,8,new,4\n")}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 0);
  EXPECT_EQ(report->validation.overall.skipped, 6);
  EXPECT_NEAR(*report->predictions[0].first.predicted, 6, 0.5);
  EXPECT_TRUE(report->predictions[1].first.predicted.has_value());
  EXPECT_EQ(report->predictions[1].note,
            "rate of two with batch 32 alone on K80 derived from other batches");
  EXPECT_FALSE(report->predictions[2].first.predicted.has_value());
  EXPECT_EQ(report->predictions[2].note, "no rate of new with batch 4 alone on K80");
}

TEST(ValidatePairs, ADeviceNeverSeenIsTakenForOthers) {
  const auto report =
      validate_pairs({}, {.train = {file("six.csv", six_pairs())},
                          .test = {file("new.csv", kHeader + row("one", "two", "P100") +
                                                       row("one", "two", "Abacus"))}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->predictions[0].first.predicted.has_value());
  EXPECT_EQ(report->predictions[0].note, "no pair on P100 to learn from: as on other GPUs");
  EXPECT_TRUE(report->predictions[0].fits.has_value());
  EXPECT_FALSE(report->predictions[1].fits.has_value());
}

TEST(ValidatePairs, TheBaselineTakesItsPlaceWhenAskedFor) {
  const auto report = validate_pairs(
      {}, {.train = {file("six.csv", six_pairs())}, .split = "fifths", .baseline = "half-speed"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.baseline, "half-speed");
  EXPECT_FALSE(report->beside.front().baseline.has_value());
  EXPECT_NEAR(*report->predictions[0].first.predicted, 5, 1e-9);
  EXPECT_FALSE(report->predictions[0].first.p10.has_value());
}

// Shares of 0.6 and 0.4 everywhere: √0.24 = 0.49, so 4.9 instead of 6 and 2.45 instead of 2.
TEST(ValidatePairs, TheUsualSlowdownIsABaselineToo) {
  const auto report = validate_pairs({}, {.train = {file("six.csv", six_pairs())},
                                          .split = "leave-one-job-out",
                                          .baseline = "mean-slowdown"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.baseline, "mean-slowdown");
  EXPECT_NEAR(report->validation.overall.mape, (0.18350 + 0.22474) / 2, 1e-4);
  EXPECT_NEAR(*report->predictions[0].first.predicted, 4.89898, 1e-5);
  ASSERT_EQ(report->beside.size(), 2U);
  EXPECT_FALSE(report->beside[0].baseline.has_value());
  EXPECT_EQ(report->beside[1].baseline, "half-speed");
}

TEST(ValidatePairs, SaysWhatIsWrong) {
  const std::string six = file("six.csv", six_pairs());
  const std::string none = file("none.csv", kHeader);
  const auto error = [](const PairsRequest& request) {
    const auto report = validate_pairs({}, request);
    return report.ok() ? "no error" : report.error().message;
  };
  EXPECT_EQ(error({}), "--train FILE is required: the rows to learn from");
  EXPECT_EQ(error({.train = {none}, .split = "fifths"}), "the training files have no packed pairs");
  EXPECT_EQ(error({.train = {six}, .test = {none}}), "the test files have no packed pairs");
  EXPECT_EQ(
      error(
          {.train = {file("self.csv", kHeader + row("one", "one"))}, .split = "leave-one-job-out"}),
      "the training files have pairs of one job only, so none is left to learn from; give --test");
  EXPECT_EQ(error({.train = {file("bare.csv",
                                  "gpu,model_a,batch_a,model_b,batch_b\n"
                                  "K80,one,8,two,16\n")},
                   .test = {six}}),
            "no pair to learn from: none has rates of both jobs, alone and together, on one GPU");
}

TEST(ValidatePairs, AFoldWithoutTrainingRowsIsNotPredicted) {
  const auto report = validate_pairs(
      {}, {.train = {file("two.csv", kHeader + row("one", "two"))}, .split = "leave-one-job-out"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 0);
  EXPECT_EQ(report->predictions[0].note,
            "no pair to learn from: none has rates of both jobs, alone and together, on one GPU; "
            "without one");
}

TEST(PairPredictions, AreOneLinePerPair) {
  const PairLine line{.row = 3,
                      .first = {.predicted = 1.5, .p10 = 1, .p90 = 2},
                      .second = {},
                      .fits = 0.25,
                      .note = "a, b"};
  EXPECT_EQ(pair_predictions_csv(std::vector{line}),
            "row,predicted_a,predicted_b,p10_a,p90_a,p10_b,p90_b,fits,note\n"
            "3,1.5,,1,2,,,0.25,\"a, b\"\n");
}

// A fifth of the rows, as pairs of known jobs are.
TEST(ValidatePairs, KnowsGavelsPairsFarBetterThanHalfSpeed) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set, so Gavel's pairs are not scored.";
  const std::string folder = std::string(data) + "/gavel/";
  const auto text = read_file(folder + "packed_pairs.csv");
  ASSERT_TRUE(text.ok()) << text.error().message;
  std::istringstream lines(*text);
  std::string header;
  std::getline(lines, header);
  std::array<std::string, 2> parts{header + "\n", header + "\n"};
  std::string line;
  for (int row = 0; std::getline(lines, line); ++row) parts[row % 5 == 0 ? 1 : 0] += line + "\n";
  const auto report =
      validate_pairs({}, {.train = {file("four.csv", parts[0]), folder + "isolated.csv"},
                          .test = {file("fifth.csv", parts[1])}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const Score& ours = report->validation.overall;
  EXPECT_GT(ours.n, 100);
  EXPECT_LT(ours.mape, 0.08);
  EXPECT_NEAR(*ours.coverage80, 0.8, 0.1);
  for (const Validation& baseline : report->beside) EXPECT_GT(baseline.overall.mape, 0.2);
  EXPECT_GT(*report->validation.groups.at("fits in memory").balanced_accuracy, 0.8);
}

}  // namespace
}  // namespace stint
