#include "app/calibrate/calibrate_memory.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>

#include "base/file.h"
#include "load/predict_inputs.h"

namespace stint {
namespace {

std::string memory_file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_calibrate_memory";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

/// 40 to 70 GB, more with each sample of a micro-batch.
std::string bloom_table() {
  std::string text =
      "gpu,gpus_per_node,params_b,layers,hidden,heads,seq,global_batch,micro_batch,dp,tp,pp,"
      "zero_stage,memory_gb,notes\n";
  for (const int micro_batch : {1, 2, 4, 6}) {
    text += fmt::format("A100-80GB,8,181,72,14336,64,2048,2048,{},8,8,6,1,{},02-25\n", micro_batch,
                        33 + 5.5 * micro_batch);
    text += fmt::format("A100-80GB,8,177,96,12288,64,2048,2048,{},8,8,6,1,{},02-26\n", micro_batch,
                        33 + 5.7 * micro_batch);
  }
  return text;
}

std::string nanotron_table() {
  std::string text =
      "gpu,gpus_per_node,params_b,layers,hidden,heads,ffn,vocab,seq,global_batch,micro_batch,dp,tp,"
      "pp,zero_stage,peak_memory_gb\n";
  for (const int micro_batch : {1, 2, 4}) {
    text += fmt::format("H100,8,1.34,16,2048,32,8192,131072,4096,256,{},8,1,2,1,{}\n", micro_batch,
                        9 + 8 * micro_batch);
  }
  return text;
}

Environment memory_environment() {
  Environment it;
  it.clock = std::make_shared<FixedClock>(0 * kSecond);
  return it;
}

TEST(CalibrateMemory, PoolsTables) {
  const CalibrateRequest request{.train = {"bloom=" + memory_file("b.csv", bloom_table()),
                                           "nanotron=" + memory_file("n.csv", nanotron_table())},
                                 .name = "mine",
                                 .out = memory_file("mine.json", "")};
  const auto calibration = calibrate_memory(memory_environment(), request);
  ASSERT_TRUE(calibration.ok()) << calibration.error().message;
  ASSERT_EQ(calibration->data.size(), 2U);
  EXPECT_EQ(calibration->data[0].rows, 8);
  EXPECT_EQ(calibration->accuracy.back().n, 11);
  EXPECT_EQ(calibration->accuracy.back().split, "leave-one-table-out");
  const auto kept = load_calibration(request.out);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_TRUE(sharded_memory_law(kept->noun).ok());
}

TEST(CalibrateMemory, LeavesModelsOfOneTableOut) {
  const auto calibration =
      calibrate_memory(memory_environment(),
                       {.train = {"bloom=" + memory_file("b.csv", bloom_table())}, .name = "mine"});
  ASSERT_TRUE(calibration.ok()) << calibration.error().message;
  EXPECT_EQ(calibration->accuracy.back().split, "leave-one-job-out");
  EXPECT_LT(calibration->accuracy.back().mape, 0.1);
}

TEST(CalibrateMemory, RefusesFilesWithoutAFormat) {
  const auto other = calibrate_memory(memory_environment(), {.train = {"b.csv"}, .name = "mine"});
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("--train must be FORMAT=FILE"), std::string::npos);
}

// The law that is shipped says of Llama-2-7B on A100-80GB what its fine-tuning shows: 8 of them
// hold it with full sharding, one does not hold it whole.
TEST(CalibrateMemory, TheShippedLawKnowsLlama) {
  const auto shipped = load_calibration("sharded-memory");
  ASSERT_TRUE(shipped.ok()) << shipped.error().message;
  const auto law = sharded_memory_law(shipped->noun);
  ASSERT_TRUE(law.ok()) << law.error().message;
  ModelShape shape{.layers = 32,
                   .hidden = 4096,
                   .heads = 32,
                   .feed_forward = 11008,
                   .vocabulary = 32000,
                   .positions = 4096};
  shape.gated = true;
  ShardedSetup setup;
  setup.shape = ShardedShape(shape);
  setup.sequence = 4096;
  setup.global_batch = 8;
  const Bytes room = 80 * kGiB;
  EXPECT_LT(p_fits(sharded_memory(setup, {}, *law), room, *law), 0.05);
  setup.layout = {.data = 8, .zero = 3};
  EXPECT_GT(p_fits(sharded_memory(setup, kFullPrecisionStates, *law), room, *law), 0.95);
}

}  // namespace
}  // namespace stint
