#include "measure/tables/cmdare_steps.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <utility>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kCluster =
    "model,gpu,num_workers,num_param_servers,windows,cluster_steps_per_s_mean\n";
constexpr const char* kSingle = "model,gpu,num_params,steps_per_s_mean\n";

StepRow row_of(const std::string& text) {
  const auto rows = read_cmdare_steps(text + "\n", "a.csv");
  EXPECT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->size(), 1U);
  return rows->front();
}

// 3 workers that make 12 steps/s together: 3 / 12 = 0.25 s for a step of one of them.
TEST(CmdareSteps, ReadsSpeedByClusterSize) {
  const StepRow row = row_of(std::string(kCluster) + "ResNet-15,K80,3,2,40,12");
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
  const StepRow row = row_of(std::string(kSingle) + "custom1,P100,1000000,4");
  EXPECT_EQ(row.workers_by_vm, std::vector<int>{1});
  EXPECT_EQ(row.servers, 1);
  EXPECT_TRUE(row.asynchronous);
  EXPECT_EQ(row.gradient_bytes, 4 * kMB);
  EXPECT_EQ(row.time, 0.25 * kSecond);
  EXPECT_FALSE(row_of("model,gpu,steps_per_s_mean\na,K80,4").gradient_bytes.has_value());
}

TEST(CmdareSteps, OneModelHasOneName) {
  EXPECT_EQ(row_of(std::string(kSingle) + "Res15,K80,1,1").job, "ResNet-15");
  EXPECT_EQ(row_of(std::string(kSingle) + "Res32,K80,1,1").job, "ResNet-32");
  EXPECT_EQ(row_of(std::string(kSingle) + "shakebig,K80,1,1").job, "ShakeShake-big");
  EXPECT_EQ(row_of(std::string(kSingle) + "shakesmall,K80,1,1").job, "ShakeShake-small");
  EXPECT_EQ(row_of(std::string(kSingle) + "shakemid,K80,1,1").job, "shakemid");
}

TEST(CmdareSteps, MeasuredColumnsMayBeMissingOrBlank) {
  const StepRow missing = row_of("model,gpu,num_workers,num_param_servers\na,K80,2,1");
  EXPECT_FALSE(missing.time.has_value());
  EXPECT_EQ(missing.unusable, "");
  EXPECT_EQ(row_of(std::string(kSingle) + "a,K80,1,").unusable, "");
}

TEST(CmdareSteps, ARateThatCannotBeReadLeavesTheRowToBePredicted) {
  const StepRow row = row_of(std::string(kCluster) + "a,K80,1,1,4,0");
  EXPECT_EQ(row.unmeasured, "rate '0' cannot be read");
  EXPECT_EQ(row.unusable, "");
  EXPECT_FALSE(row.time.has_value());
}

TEST(CmdareSteps, SaysWhyARowIsOfNoUse) {
  EXPECT_EQ(row_of(std::string(kCluster) + "a,K80,0,1,4,1").unusable,
            "num_workers '0' cannot be read");
  EXPECT_EQ(row_of(std::string(kCluster) + "a,K80,1,x,4,1").unusable,
            "num_param_servers 'x' cannot be read");
  EXPECT_EQ(row_of(std::string(kSingle) + "a,K80,many,1").unusable,
            "num_params 'many' cannot be read");
  EXPECT_EQ(row_of(std::string(kSingle) + ",K80,1,1").unusable, "has no model");
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

}  // namespace
}  // namespace stint
