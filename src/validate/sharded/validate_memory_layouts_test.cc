#include "validate/sharded/validate_memory_layouts.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>

#include "base/file.h"

namespace stint {
namespace {

std::string layouts_file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_memory_layouts";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

constexpr const char* kColumns =
    "gpu,gpus_per_node,params_b,layers,hidden,heads,seq,global_batch,micro_batch,dp,tp,pp,"
    "zero_stage,";

/// Two dates, four rows each, that take 33 GB and 5.5 GB a sample of a micro-batch.
std::string layouts() {
  std::string text = std::string(kColumns) + "memory_gb,notes\n";
  for (const char* date : {"02-24", "02-25"}) {
    for (const int micro_batch : {1, 2, 4, 6}) {
      text += fmt::format("A100-80GB,8,181,72,14336,64,2048,2048,{},8,8,6,1,{},{}\n", micro_batch,
                          33 + 5.5 * micro_batch, date);
    }
  }
  return text;
}

Environment layouts_environment() {
  Environment it;
  it.clock = std::make_shared<FixedClock>(0 * kSecond);
  return it;
}

TEST(ValidateMemoryLayouts, PredictsADateFromTheOthers) {
  const auto report = validate_memory_layouts(
      layouts_environment(),
      {.train = {layouts_file("b.csv", layouts())}, .split = "leave-one-date-out"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 8);
  EXPECT_LT(report->validation.overall.mape, 0.05);
  EXPECT_EQ(report->validation.jobs.size(), 2U);
  EXPECT_EQ(report->validation.groups.at("fits in memory").n, 8);
  EXPECT_DOUBLE_EQ(*report->validation.groups.at("fits in memory").accuracy, 1);
  ASSERT_EQ(report->beside.size(), 1U);
  EXPECT_EQ(report->beside[0].baseline, "plain");
  EXPECT_GT(report->beside[0].overall.mape, report->validation.overall.mape);
}

// Without a column of memory nothing is scored, and all rows are predicted; a row with a caution
// says it.
TEST(ValidateMemoryLayouts, PredictsWithoutAnswers) {
  const std::string test = std::string(kColumns) +
                           "notes,caution\n"
                           "A100-80GB,8,181,72,14336,64,2048,2048,2,8,8,6,1,02-26,\n"
                           "A100-80GB,8,181,72,14336,64,2048,2048,2,8,8,6,1,02-26,degrees\n";
  const auto report = validate_memory_layouts(
      layouts_environment(),
      {.train = {layouts_file("b.csv", layouts())}, .test = {layouts_file("t.csv", test)}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 0);
  ASSERT_EQ(report->predictions.size(), 2U);
  EXPECT_NEAR(*report->predictions[0].predicted, 44, 2);
  EXPECT_LT(*report->predictions[0].p10, *report->predictions[0].predicted);
  EXPECT_FALSE(report->predictions[1].predicted);
  EXPECT_EQ(report->predictions[1].note, "degrees");
}

TEST(ValidateMemoryLayouts, OtherTablesCanBeThePrior) {
  const std::string file = layouts_file("b.csv", layouts());
  const std::string blank =
      std::string(kColumns) +
      "memory_gb,notes\nA100-80GB,8,181,72,14336,64,2048,2048,2,8,8,6,1,,02-26\n";
  const auto report = validate_memory_layouts(
      layouts_environment(),
      {.train = {layouts_file("blank.csv", blank)}, .test = {file}, .priors = {"bloom=" + file}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_LT(report->validation.overall.mape, 0.05);
}

TEST(ValidateMemoryLayouts, ErrorsSayWhatToDo) {
  const std::string file = layouts_file("b.csv", layouts());
  const auto error = [&](const std::string& split, std::vector<std::string> priors) {
    const auto report = validate_memory_layouts(
        layouts_environment(), {.train = {file}, .split = split, .priors = std::move(priors)});
    return report.ok() ? "" : report.error().message;
  };
  EXPECT_NE(error("leave-one-device-out", {}).find("leave-one-date-out"), std::string::npos);
  EXPECT_NE(error("leave-one-model-out", {}).find("the files have one model"), std::string::npos);
  EXPECT_NE(error("leave-one-date-out", {"x"}).find("--prior must be"), std::string::npos);
}

}  // namespace
}  // namespace stint
