#include "validate/validate_memory.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>

#include "base/file.h"

namespace stint {
namespace {

Environment bare() { return {.clock = std::make_shared<FixedClock>(20772 * kDay)}; }

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_memory_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

std::string alone() {
  return file("alone.csv",
              "gpu,model,batch_per_gpu,steps_per_s_all_gpus\nK80,net,8,1\nP100,net,8,1\n"
              "K80,net,256,0\n");
}
std::string pairs() {
  return file("pairs.csv",
              "gpu,model_a,batch_a,model_b,batch_b,oom\nK80,net,8,net,256,1\n"
              "P100,net,8,net,8,0\n");
}
std::string plans() {
  return file("plans.csv",
              "cluster,model,microbatch,global_batch,layers_per_stage,stage_replicas,"
              "measured_peak_mem_bytes\nc,net,1,8,0-0,T4x1:tp1,3000000000\n"
              "d,net,2,8,0-0,T4x1:tp1,4000000000\n");
}
std::string layers() {
  return file("layers.csv",
              "model,microbatch,layer,params,activation_out_elems,activation_mem_elems\n"
              "net,1,0,100000000,1,200000000\n");
}

TEST(ValidateMemory, TellsFilesByTheirHeaders) {
  const auto marks =
      validate_memory(bare(), {.train = {alone(), pairs()}, .split = "leave-one-device-out"});
  ASSERT_TRUE(marks.ok()) << marks.error().message;
  EXPECT_EQ(marks->validation.overall.n, 5);
  EXPECT_TRUE(marks->validation.jobs.contains("K80 alone"));
  EXPECT_TRUE(marks->validation.jobs.contains("K80 pairs"));
  const auto peaks = validate_memory(
      bare(), {.train = {plans()}, .split = "leave-one-cluster-out", .layers = layers()});
  ASSERT_TRUE(peaks.ok()) << peaks.error().message;
  EXPECT_EQ(peaks->validation.overall.n, 2);
  EXPECT_FALSE(peaks->validation.overall.accuracy.has_value());
}

TEST(ValidateMemory, RefusesWhatItCannotUse) {
  const auto error = [](const MemoryRequest& request) {
    const auto report = validate_memory(bare(), request);
    return report.ok() ? "" : report.error().message;
  };
  EXPECT_EQ(error({.train = {plans()}, .split = "leave-one-job-out"}),
            "plans need --layers FILE, the layer sizes of their models");
  EXPECT_EQ(error({.train = {alone()}, .test = {plans()}}),
            "marks of what fits and plans cannot be mixed; validate them separately");
  EXPECT_NE(error({.train = {layers()}, .test = {plans()}}).find("is not a table of memory"),
            std::string::npos);
  EXPECT_NE(error({.train = {"nowhere.csv"}, .test = {plans()}}).find("cannot read nowhere.csv"),
            std::string::npos);
  EXPECT_NE(error({.train = {plans()}, .test = {plans()}, .layers = "nowhere.csv"}), "");
  EXPECT_NE(error({.train = {file("empty.csv", "")}, .test = {plans()}}), "");
}

TEST(ValidateMemory, PredictsPublishedMarks) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set.";
  const std::string folder = std::string(data) + "/gavel/";
  const auto report =
      validate_memory(bare(), {.train = {folder + "packed_pairs.csv", folder + "isolated.csv"},
                               .split = "leave-one-device-out"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->validation.overall.n, 804);
  EXPECT_GT(*report->validation.overall.balanced_accuracy, 0.85);
  EXPECT_GT(*report->validation.jobs.at("K80 pairs").accuracy, 0.95);
  EXPECT_GT(*report->validation.jobs.at("P100 pairs").accuracy, 0.98);
  EXPECT_GT(*report->validation.overall.accuracy, *report->beside[0].overall.accuracy);
}

TEST(ValidateMemory, PredictsPublishedPeaks) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set.";
  const std::string folder = std::string(data) + "/sailor/";
  const auto report = validate_memory(bare(), {.train = {folder + "plan_iteration_times.csv"},
                                               .split = "leave-one-job-out",
                                               .layers = folder + "layer_sizes.csv"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  // One of the 18 plans covers 26 of its model's 34 layers.
  EXPECT_EQ(report->validation.overall.n, 17);
  EXPECT_EQ(report->validation.overall.skipped, 1);
  EXPECT_LT(report->validation.overall.median_ape, 0.2);
  EXPECT_LT(report->validation.overall.mape, report->beside[0].overall.mape);
}

}  // namespace
}  // namespace stint
