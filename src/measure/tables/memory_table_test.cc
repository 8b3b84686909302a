#include "measure/tables/memory_table.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kAlone =
    "gpu,model,batch_per_gpu,steps_per_s_all_gpus,steps_per_s_all_gpus_repeat\n";
constexpr const char* kPairs = "gpu,model_a,batch_a,model_b,batch_b,oom\n";
constexpr const char* kPlans =
    "cluster,model,microbatch,global_batch,layers_per_stage,stage_replicas,"
    "measured_peak_mem_bytes\n";
constexpr const char* kLayers =
    "model,microbatch,layer,params,activation_out_elems,activation_mem_elems\n";

TEST(MemoryMarks, AZeroInEitherRunDoesNotFit) {
  const auto marks = read_memory_marks(
      std::string(kAlone) + "K80,net,16,2,\nK80,net,,2,0\nK80,net,32,0,\nK80,net,32,,\n", "a.csv");
  ASSERT_TRUE(marks.ok()) << marks.error().message;
  ASSERT_EQ(marks->size(), 4U);
  EXPECT_EQ((*marks)[0].fits, true);
  EXPECT_EQ((*marks)[0].job, (SizedJob{"net", 16}));
  EXPECT_EQ((*marks)[0].device, "K80");
  EXPECT_EQ((*marks)[1].fits, false);
  EXPECT_EQ((*marks)[1].job.batch, 1);
  EXPECT_EQ((*marks)[2].fits, false);
  EXPECT_EQ((*marks)[2].row, 2U);
  EXPECT_FALSE((*marks)[3].fits.has_value());
}

TEST(MemoryMarks, MeasuredColumnsMayBeMissing) {
  const auto marks = read_memory_marks("gpu,model,batch_per_gpu\nK80,net,16\n", "a.csv");
  ASSERT_TRUE(marks.ok()) << marks.error().message;
  EXPECT_FALSE(marks->front().fits.has_value());
}

TEST(MemoryMarks, SaysWhatIsWrongAndWhere) {
  const auto error = [](const std::string& row) {
    return read_memory_marks(kAlone + row + "\n", "a.csv").error().message;
  };
  EXPECT_EQ(error("K80,net,16,-1,"),
            "a.csv:2: column steps_per_s_all_gpus: must be a rate of 0 or more, not '-1'");
  EXPECT_EQ(error("K80,net,x,1,"),
            "a.csv:2: column batch_per_gpu: must be a whole number of 1 or more, not 'x'");
  EXPECT_EQ(error("K80,,1,1,"), "a.csv:2: column model: must not be empty");
  EXPECT_FALSE(read_memory_marks("gpu,model\nK80,net\n", "a.csv").ok());
}

TEST(PairMarks, ReadsPairs) {
  const auto pairs = read_pair_marks(
      std::string(kPairs) + "K80,a,16,b,,1\nK80,a,8,b,4,0\nK80,a,8,b,4,\n", "a.csv");
  ASSERT_TRUE(pairs.ok()) << pairs.error().message;
  EXPECT_EQ((*pairs)[0].first, (SizedJob{"a", 16}));
  EXPECT_EQ((*pairs)[0].second, (SizedJob{"b", 1}));
  EXPECT_EQ((*pairs)[0].fits, false);
  EXPECT_EQ((*pairs)[1].fits, true);
  EXPECT_EQ((*pairs)[1].row, 1U);
  EXPECT_FALSE((*pairs)[2].fits.has_value());
  const auto bad = read_pair_marks(std::string(kPairs) + "K80,a,16,b,1,no\n", "a.csv");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "a.csv:2: column oom: must be 0 or 1, not 'no'");
}

TEST(PlanMemory, ReadsStagesAndReplicas) {
  const auto plans = read_plan_memory(
      std::string(kPlans) + "c,net,2,64,0-3|4-9,Big-RTXx2:tp2 & GH-96x4:tp4 | Big-RTXx2:tp1,1024\n",
      "a.csv");
  ASSERT_TRUE(plans.ok()) << plans.error().message;
  const PlanMemory& plan = plans->front();
  EXPECT_EQ(plan.cluster, "c");
  EXPECT_EQ(plan.model, "net");
  EXPECT_EQ(plan.microbatch, 2);
  EXPECT_EQ(plan.global_batch, 64);
  ASSERT_EQ(plan.stages.size(), 2U);
  EXPECT_EQ(plan.stages[0].layer_last, 3);
  EXPECT_EQ(plan.stages[1].layer_first, 4);
  const std::vector<StageReplica> first = {{"Big-RTX", 2, 2}, {"GH-96", 4, 4}};
  EXPECT_EQ(plan.stages[0].replicas, first);
  EXPECT_EQ(plan.stages[1].replicas, (std::vector<StageReplica>{{"Big-RTX", 2, 1}}));
  EXPECT_EQ(plan.memory_peak, 1 * kKiB);
}

TEST(PlanMemory, SaysWhatIsWrongAndWhere) {
  const auto error = [](const std::string& cells) {
    const auto plans = read_plan_memory(kPlans + ("c,net,2,64," + cells) + "\n", "a.csv");
    return plans.ok() ? "" : plans.error().message;
  };
  EXPECT_EQ(error("0-3,ax2:tp2,"), "");
  EXPECT_EQ(error("3-0,ax2:tp2,"),
            "a.csv:2: column layers_per_stage: '3-0' is not of the form 0-15");
  EXPECT_EQ(error("0-3|4-5,ax2:tp2,"),
            "a.csv:2: column stage_replicas: 1 stage for 2 ranges of layers");
  for (const char* replica : {"ax2", "a:tp2", "x2:tp2", "ax0:tp2", "ax2:tp", ""}) {
    EXPECT_NE(error(std::string("0-3,") + replica + ",").find("is not of the form GH-96x4:tp4"),
              std::string::npos)
        << replica;
  }
  EXPECT_NE(error("0-3,ax2:tp2,much"), "");
}

TEST(LayerSizes, ReadsLayers) {
  const auto sizes = read_layer_sizes(std::string(kLayers) + "net,2,0,100,20,0\n", "a.csv");
  ASSERT_TRUE(sizes.ok()) << sizes.error().message;
  const LayerSize& size = sizes->front();
  EXPECT_EQ(size.model, "net");
  EXPECT_EQ(size.microbatch, 2);
  EXPECT_EQ(size.layer, 0);
  EXPECT_EQ(size.parameters, 100);
  EXPECT_EQ(size.activation_out, 20);
  EXPECT_EQ(size.activation_memory, 0);
  EXPECT_FALSE(read_layer_sizes(std::string(kLayers) + "net,2,-1,100,20,0\n", "a.csv").ok());
  EXPECT_FALSE(read_layer_sizes(std::string(kLayers) + "net,2,0,1.5,20,0\n", "a.csv").ok());
}

TEST(MemoryTables, ReadsThePublishedTables) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set";
  const auto text = [&](const char* name) { return *read_file(std::string(data) + name); };
  const auto marks = read_memory_marks(text("/gavel/isolated.csv"), "isolated.csv");
  ASSERT_TRUE(marks.ok()) << marks.error().message;
  EXPECT_EQ(marks->size(), 239U);
  const auto pairs = read_pair_marks(text("/gavel/packed_pairs.csv"), "packed_pairs.csv");
  ASSERT_TRUE(pairs.ok()) << pairs.error().message;
  EXPECT_EQ(pairs->size(), 565U);
  const auto full = [](const PairMark& pair) { return pair.fits == false; };
  EXPECT_EQ(std::count_if(pairs->begin(), pairs->end(), full), 46);
  const auto plans = read_plan_memory(text("/sailor/plan_iteration_times.csv"), "plans.csv");
  ASSERT_TRUE(plans.ok()) << plans.error().message;
  EXPECT_EQ(plans->size(), 18U);
  const auto sizes = read_layer_sizes(text("/sailor/layer_sizes.csv"), "layer_sizes.csv");
  ASSERT_TRUE(sizes.ok()) << sizes.error().message;
  EXPECT_EQ(sizes->size(), 461U);
}

}  // namespace
}  // namespace stint
