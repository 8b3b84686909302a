#include "measure/tables/step_formats.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <utility>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kHeader =
    "gpu,consolidated,model,batch_per_gpu,num_gpus,steps_per_s_all_gpus,"
    "steps_per_s_all_gpus_repeat\n";

StepRow gavel_row_of(const std::string& line) {
  const auto rows = read_gavel_steps(kHeader + line + "\n", "a.csv");
  EXPECT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->size(), 1U);
  return rows->front();
}

// 4 GPUs that make 8 steps/s together make 2 steps/s each: 0.5 s a step; again at 10: 0.4 s.
TEST(GavelSteps, RatesAreSumsOverTheGpus) {
  const StepRow row = gavel_row_of("P100,1,net,16,4,8,10");
  EXPECT_EQ(row.job, "net");
  EXPECT_EQ(row.series, "");
  EXPECT_EQ(row.device, "P100");
  EXPECT_EQ(row.workers_by_vm, std::vector<int>{4});
  EXPECT_EQ(row.batch_per_worker, 16);
  EXPECT_EQ(row.time, 0.5 * kSecond);
  EXPECT_EQ(row.repeat, 0.4 * kSecond);
  EXPECT_EQ(row.servers, 0);
  EXPECT_FALSE(row.asynchronous);
  EXPECT_EQ(row.unusable, "");
}

// 25.56 million parameters of four bytes.
TEST(GavelSteps, KnowsTheGradientsOfPublishedModels) {
  const StepRow row = gavel_row_of("P100,1,ResNet-50,16,4,8,");
  ASSERT_TRUE(row.gradient_bytes.has_value());
  EXPECT_NEAR(row.gradient_bytes->in(kMB), 102.24, 1e-9);
  EXPECT_FALSE(gavel_row_of("P100,1,net,16,4,8,").gradient_bytes.has_value());
}

TEST(GavelSteps, SpreadGpusAreOnePerServer) {
  EXPECT_EQ(gavel_row_of("P100,0,net,16,4,8,").workers_by_vm, (std::vector<int>{1, 1, 1, 1}));
}

TEST(GavelSteps, ABlankBatchIsOne) {
  EXPECT_EQ(gavel_row_of("K80,1,net,,1,3,").batch_per_worker, 1);
}

TEST(GavelSteps, ARateOfZeroDoesNotFit) {
  const StepRow row = gavel_row_of("K80,1,net,16,1,0,0");
  EXPECT_EQ(row.unmeasured, "does not fit in memory");
  EXPECT_EQ(row.unusable, "");
  EXPECT_FALSE(row.time.has_value());
  EXPECT_FALSE(row.repeat.has_value());
  const StepRow repeat = gavel_row_of("K80,1,net,16,1,2,0");
  EXPECT_EQ(repeat.unmeasured, "");
  EXPECT_EQ(repeat.time, 0.5 * kSecond);
  EXPECT_FALSE(repeat.repeat.has_value());
}

TEST(GavelSteps, MeasuredColumnsMayBeMissingOrBlank) {
  const auto rows =
      read_gavel_steps("gpu,consolidated,model,batch_per_gpu,num_gpus\nK80,1,net,16,1\n", "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_FALSE(rows->front().time.has_value());
  EXPECT_EQ(rows->front().unusable, "");
  EXPECT_EQ(gavel_row_of("K80,1,net,16,1,,").unusable, "");
  EXPECT_EQ(gavel_row_of("K80,1,net,16,1,,").unmeasured, "");
}

TEST(GavelSteps, ARateThatCannotBeReadLeavesTheRowToBePredicted) {
  for (const char* rate : {"-2", "nan", "n/a", "1e-320"}) {
    const StepRow row = gavel_row_of(std::string("K80,1,net,16,1,") + rate + ",");
    EXPECT_EQ(row.unmeasured, std::string("invalid rate '") + rate + "'");
    EXPECT_EQ(row.unusable, "");
    EXPECT_FALSE(row.time.has_value());
  }
}

TEST(GavelSteps, SaysWhyARowIsOfNoUse) {
  EXPECT_EQ(gavel_row_of("K80,1,net,16,0,1,").unusable, "invalid num_gpus '0'");
  EXPECT_EQ(gavel_row_of("K80,yes,net,16,1,1,").unusable, "invalid consolidated 'yes'");
  EXPECT_EQ(gavel_row_of("K80,1,net,big,1,1,").unusable, "invalid batch cell 'big'");
  EXPECT_EQ(gavel_row_of("K80,1,,16,1,2,").unusable, "has no model");
}

TEST(GavelSteps, ATableWithoutAKeyColumnIsBadInput) {
  const auto rows = read_gavel_steps("gpu,model,batch_per_gpu,num_gpus\nK80,net,1,1\n", "a.csv");
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(rows.error().message.find("consolidated"), std::string::npos);
}

TEST(GavelSteps, ReadsThePublishedTable) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set";
  const std::string path = std::string(data) + "/gavel/isolated.csv";
  const auto rows = read_gavel_steps(*read_file(path), path);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->size(), 239U);
  for (const StepRow& row : *rows) EXPECT_EQ(row.unusable + row.unmeasured, "");
}

constexpr const char* kCluster =
    "model,gpu,num_workers,num_param_servers,windows,cluster_steps_per_s_mean\n";
constexpr const char* kSingle = "model,gpu,num_params,steps_per_s_mean\n";

StepRow cmdare_row_of(const std::string& text) {
  const auto rows = read_cmdare_steps(text + "\n", "a.csv");
  EXPECT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->size(), 1U);
  return rows->front();
}

// 3 workers that make 12 steps/s together: 3 / 12 = 0.25 s for a step of one of them.
TEST(CmdareSteps, ReadsSpeedByClusterSize) {
  const StepRow row = cmdare_row_of(std::string(kCluster) + "ResNet-15,K80,3,2,40,12");
  EXPECT_EQ(row.job, "ResNet-15");
  EXPECT_EQ(row.device, "K80");
  EXPECT_EQ(row.workers_by_vm, (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(row.servers, 2);
  EXPECT_TRUE(row.asynchronous);
  EXPECT_EQ(row.time, 0.25 * kSecond);
  EXPECT_FALSE(row.gradient_bytes.has_value());
  EXPECT_EQ(row.unusable, "");
}

// One million parameters of 4 bytes are 4 MB; 4 steps/s are 0.25 s a step.
TEST(CmdareSteps, ReadsSingleWorkers) {
  const StepRow row = cmdare_row_of(std::string(kSingle) + "custom1,P100,1000000,4");
  EXPECT_EQ(row.workers_by_vm, std::vector<int>{1});
  EXPECT_EQ(row.servers, 1);
  EXPECT_TRUE(row.asynchronous);
  EXPECT_EQ(row.gradient_bytes, 4 * kMB);
  EXPECT_EQ(row.time, 0.25 * kSecond);
  EXPECT_FALSE(cmdare_row_of("model,gpu,steps_per_s_mean\na,K80,4").gradient_bytes.has_value());
}

TEST(CmdareSteps, OneModelHasOneName) {
  EXPECT_EQ(cmdare_row_of(std::string(kSingle) + "Res15,K80,1,1").job, "ResNet-15");
  EXPECT_EQ(cmdare_row_of(std::string(kSingle) + "Res32,K80,1,1").job, "ResNet-32");
  EXPECT_EQ(cmdare_row_of(std::string(kSingle) + "shakebig,K80,1,1").job, "ShakeShake-big");
  EXPECT_EQ(cmdare_row_of(std::string(kSingle) + "shakesmall,K80,1,1").job, "ShakeShake-small");
  EXPECT_EQ(cmdare_row_of(std::string(kSingle) + "shakemid,K80,1,1").job, "shakemid");
}

TEST(CmdareSteps, MeasuredColumnsMayBeMissingOrBlank) {
  const StepRow missing = cmdare_row_of("model,gpu,num_workers,num_param_servers\na,K80,2,1");
  EXPECT_FALSE(missing.time.has_value());
  EXPECT_EQ(missing.unusable, "");
  EXPECT_EQ(cmdare_row_of(std::string(kSingle) + "a,K80,1,").unusable, "");
}

TEST(CmdareSteps, ARateThatCannotBeReadLeavesTheRowToBePredicted) {
  const StepRow row = cmdare_row_of(std::string(kCluster) + "a,K80,1,1,4,0");
  EXPECT_EQ(row.unmeasured, "invalid rate '0'");
  EXPECT_EQ(row.unusable, "");
  EXPECT_FALSE(row.time.has_value());
}

TEST(CmdareSteps, SaysWhyARowIsOfNoUse) {
  EXPECT_EQ(cmdare_row_of(std::string(kCluster) + "a,K80,0,1,4,1").unusable,
            "invalid num_workers '0'");
  EXPECT_EQ(cmdare_row_of(std::string(kCluster) + "a,K80,1,x,4,1").unusable,
            "invalid num_param_servers 'x'");
  EXPECT_EQ(cmdare_row_of(std::string(kSingle) + "a,K80,many,1").unusable,
            "invalid num_params 'many'");
  EXPECT_EQ(cmdare_row_of(std::string(kSingle) + ",K80,1,1").unusable, "has no model");
}

TEST(CmdareSteps, ATableWithoutAKeyColumnIsBadInput) {
  const auto one = read_cmdare_steps("model,steps_per_s_mean\na,1\n", "a.csv");
  ASSERT_FALSE(one.ok());
  EXPECT_EQ(one.error().kind, ErrorKind::kBadInput);
  EXPECT_FALSE(read_cmdare_steps("model,gpu,num_workers\na,K80,1\n", "a.csv").ok());
}

TEST(CmdareSteps, ReadsThePublishedTables) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set";
  const std::pair<const char*, std::size_t> tables[] = {
      {"speed_by_cluster_size", 46}, {"single_worker_speed", 25}, {"single_worker_base", 12}};
  for (const auto& [name, count] : tables) {
    const std::string path = std::string(data) + "/cmdare/" + name + ".csv";
    const auto rows = read_cmdare_steps(*read_file(path), path);
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    EXPECT_EQ(rows->size(), count) << name;
    for (const StepRow& row : *rows) EXPECT_EQ(row.unusable + row.unmeasured, "");
  }
}

TEST(StepFormats, HaveNames) {
  EXPECT_STREQ(name_of(StepFormat::kPollux), "pollux");
  EXPECT_STREQ(name_of(StepFormat::kStint), "stint");
  EXPECT_EQ(names_of(StepFormat::kPollux).size(), 5U);
}

TEST(StepFormats, EachIsReadByItsReader) {
  const std::pair<StepFormat, const char*> tables[] = {
      {StepFormat::kPollux,
       "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu,step_time_s\nnet,2,1,2,8,0.5\n"},
      {StepFormat::kGavel,
       "gpu,consolidated,model,batch_per_gpu,num_gpus,steps_per_s_all_gpus\nK80,1,net,8,2,4\n"},
      {StepFormat::kNvidia,
       "example,heading,gpu,num_gpus,batch,batch_column,precision,throughput_column,throughput\n"
       "net,DGX-1,V100,2,8,Batch size / GPU,FP32,img/s,2\n"},
      {StepFormat::kCmdare,
       "model,gpu,num_workers,num_param_servers,cluster_steps_per_s_mean\nnet,K80,2,1,4\n"},
      {StepFormat::kStint,
       R"({"schema":"stint.measurement/1","run":"a","at_s":1,"start":{"job":"net","layout":)"
       R"({"cluster":"p3.8xlarge","groups":[{"workers_per_vm":2,"batch_per_worker":8}],)"
       R"("collective":"ring","accumulation":1}}})"
       "\n"
       R"({"schema":"stint.measurement/1","run":"a","at_s":2,)"
       R"("iteration":{"number":1,"time_s":0.5}})"
       "\n"},
  };
  for (const auto& [format, text] : tables) {
    const auto rows = read_steps(format, text, "a");
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    ASSERT_EQ(rows->size(), 1U) << name_of(format);
    EXPECT_EQ(rows->front().job, "net");
    EXPECT_EQ(rows->front().time, 0.5 * kSecond) << name_of(format);
    EXPECT_EQ(workers(rows->front()), 2);
  }
}

TEST(StepFormats, ATableOfAnotherFormatIsBadInput) {
  for (const auto& [format, name] : names_of(StepFormat::kPollux)) {
    const auto rows = read_steps(format, "a,b\n1,2\n", "a");
    ASSERT_FALSE(rows.ok()) << name;
    EXPECT_EQ(rows.error().kind, ErrorKind::kBadInput);
  }
}

}  // namespace

}  // namespace stint
