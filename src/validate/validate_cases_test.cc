#include "validate/validate_cases.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kHeader =
    "id,model,task,precision,batch_per_gpu,global_batch,machines,nodes,gpus,gpu,network,framework,"
    "metric,value\n";

std::string file(const std::string& name, const std::string& rows) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_cases_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, kHeader + rows).ok());
  return path;
}

Environment at_day_one() {
  Environment environment;
  environment.clock = std::make_shared<FixedClock>(0 * kSecond);
  return environment;
}

Result<CaseReport> report_of(const std::string& rows) {
  return validate_cases(at_day_one(), {.train = {file("train.csv", rows)}});
}

const CaseOutcome& only(const Result<CaseReport>& report) {
  EXPECT_EQ(report->cases.size(), 1U);
  return report->cases.front();
}

// 5000 images a second on 8 GPUs would be 10000 on 16 with perfect scaling; published are 9860, so
// that perfect scaling is 1.014 times too fast.
TEST(ValidateCases, PredictsSeveralVmsFromTheirOwnFigureOnOne) {
  const auto report = report_of(
      "a-1,ResNet-50,x,,256,,p3.16xlarge,1,1,V100-16GB,AWS TCP,f,samples_per_s,740\n"
      "a-2,ResNet-50,x,,256,,p3.16xlarge,1,8,V100-16GB,AWS TCP,f,samples_per_s,5000\n"
      "a-3,ResNet-50,x,,256,,p3.16xlarge,2,16,V100-16GB,AWS TCP,f,samples_per_s,9860\n");
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->cases.size(), 2U);  // One GPU to one VM, and one VM to two.
  EXPECT_EQ(report->cases[0].from, "a-1");
  const CaseOutcome& it = report->cases[1];
  EXPECT_EQ(it.from, "a-2");
  EXPECT_NEAR(*it.perfect_ratio, 10000.0 / 9860, 1e-9);
  ASSERT_TRUE(it.predicted.has_value()) << it.note;
  EXPECT_NEAR(*it.speed_ratio, *it.predicted / 9860, 1e-9);
  EXPECT_LE(*it.predicted, 10000 * (1 + 1e-6));
  EXPECT_LT(*it.p10, *it.predicted);
  EXPECT_GT(*it.p90, *it.predicted);
  ASSERT_EQ(report->groups.size(), 2U);
  EXPECT_EQ(report->groups[0].several_vms, true);
  EXPECT_EQ(report->scores.validation.overall.n, 2);
  EXPECT_EQ(report->scores.validation.groups.at("several VMs").n, 1);
  EXPECT_EQ(report->scores.beside.front().baseline, "perfect");
}

// 1000 steps of 8192 samples. One VM takes 8 s a step, two take 4.2 s.
TEST(ValidateCases, CountsStepsAndMicroStepsOfATimeToTrain) {
  const auto report = report_of(
      "b-1,BERT-base,\"x, 1000 steps\",,,8K,p3dn.24xlarge,1,8,V100-32GB,,f,time_to_train_s,8000\n"
      "b-2,BERT-base,\"x, 1000 "
      "steps\",,,8K,p3dn.24xlarge,2,16,V100-32GB,,f,time_to_train_s,4200\n");
  ASSERT_TRUE(report.ok()) << report.error().message;
  const CaseOutcome& it = only(report);
  ASSERT_TRUE(it.predicted.has_value()) << it.note;
  EXPECT_NEAR(*it.perfect_ratio, 4200.0 / 4000, 1e-9);
  EXPECT_NEAR(*it.speed_ratio, 4200 / *it.predicted, 1e-9);
  EXPECT_GE(*it.predicted, 4000 * (1 - 1e-6));
  EXPECT_NE(it.note.find("transport is not stated"), std::string::npos) << it.note;
}

TEST(ValidateCases, PrefersTheSameFrameworkAndBatch) {
  const auto report = report_of(
      "c-1,ResNet-50,x,,32,,8x V100,1,8,V100,InfiniBand 100 Gbit/s,f,samples_per_s,3000\n"
      "c-2,ResNet-50,x,,64,,8x V100,1,8,V100,InfiniBand 100 Gbit/s,g,samples_per_s,2000\n"
      "c-3,ResNet-50,x,,64,,8x V100,1,4,V100,InfiniBand 100 Gbit/s,f,samples_per_s,1500\n"
      "c-4,ResNet-50,x,,64,,8x V100,2,16,V100,InfiniBand 100 Gbit/s,f,samples_per_s,5000\n"
      "c-5,VGG-16,x,,64,,8x V100,2,16,V100,InfiniBand 100 Gbit/s,f,samples_per_s,5000\n");
  ASSERT_TRUE(report.ok()) << report.error().message;
  const auto found = std::find_if(report->cases.begin(), report->cases.end(),
                                  [](const CaseOutcome& it) { return it.published.id == "c-4"; });
  ASSERT_NE(found, report->cases.end());
  EXPECT_EQ(found->from, "c-3");
  for (const CaseOutcome& it : report->cases) EXPECT_NE(it.published.id, "c-5");
}

TEST(ValidateCases, SaysWhyACaseCannotBePredicted) {
  const auto reason = [](const std::string& model, const std::string& batch,
                         const std::string& network) {
    const std::string start = "d-1," + model + ",x,," + batch + ",,8x V100,";
    const auto report = report_of(start + "1,8,V100," + network + ",f,samples_per_s,1000\n" +
                                  start + "2,16,V100," + network + ",f,samples_per_s,1800\n");
    EXPECT_TRUE(report.ok());
    EXPECT_FALSE(only(report).predicted.has_value());
    return only(report).note;
  };
  EXPECT_EQ(reason("MyNet", "64", "InfiniBand 100 Gbit/s"), "the size of MyNet is not known");
  EXPECT_EQ(reason("ResNet-50", "", "InfiniBand 100 Gbit/s"), "the batch is not stated");
  EXPECT_NE(reason("ResNet-50", "64", "not stated").find("network"), std::string::npos);
}

TEST(ValidateCases, PredictsTestRowsWithoutTheirValue) {
  const std::string train = file("known.csv",
                                 "e-1,ResNet-50,x,,64,,8x V100,1,8,V100,InfiniBand 100 Gbit/s,f,"
                                 "samples_per_s,3000\n");
  const std::string test = file("asked.csv",
                                "e-2,ResNet-50,x,,64,,8x V100,2,16,V100,InfiniBand 100 Gbit/s,f,"
                                "samples_per_s,\n"
                                "f-1,ResNet-50,x,,64,,8x V100,2,16,V100,InfiniBand 100 Gbit/s,f,"
                                "samples_per_s,\n");
  const auto report = validate_cases(at_day_one(), {.train = {train}, .test = {test}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->scores.predictions.size(), 2U);
  EXPECT_TRUE(report->scores.predictions[0].predicted.has_value());
  EXPECT_EQ(report->scores.predictions[1].note, "there is no smaller case of this training");
  EXPECT_EQ(report->scores.validation.overall.n, 0);
  EXPECT_TRUE(report->groups.empty());
}

TEST(ValidateCases, ScoresPerfectScalingInstead) {
  const std::string rows =
      "a-2,ResNet-50,x,,256,,p3.16xlarge,1,8,V100-16GB,AWS TCP,f,samples_per_s,5000\n"
      "a-3,ResNet-50,x,,256,,p3.16xlarge,2,16,V100-16GB,AWS TCP,f,samples_per_s,8000\n";
  const auto report =
      validate_cases(at_day_one(), {.train = {file("p.csv", rows)}, .perfect = true});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->scores.validation.baseline, "perfect");
  // 10000 of 8000 a second: a step takes 0.8 of the measured time.
  EXPECT_NEAR(report->scores.validation.overall.mape, 0.2, 1e-9);
}

TEST(ValidateCases, NeedsATable) {
  const auto none = validate_cases(at_day_one(), {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kUsage);
  EXPECT_FALSE(validate_cases(at_day_one(), {.train = {"nowhere.csv"}}).ok());
}

}  // namespace
}  // namespace stint
