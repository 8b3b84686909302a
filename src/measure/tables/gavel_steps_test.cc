#include "measure/tables/gavel_steps.h"

#include <cstdlib>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kHeader =
    "gpu,consolidated,model,batch_per_gpu,num_gpus,steps_per_s_all_gpus,"
    "steps_per_s_all_gpus_repeat\n";

StepRow row_of(const std::string& line) {
  const auto rows = read_gavel_steps(kHeader + line + "\n", "a.csv");
  EXPECT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->size(), 1U);
  return rows->front();
}

// 4 GPUs that make 8 steps/s together make 2 steps/s each: 0.5 s a step; again at 10: 0.4 s.
TEST(GavelSteps, RatesAreSumsOverTheGpus) {
  const StepRow row = row_of("P100,1,net,16,4,8,10");
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

TEST(GavelSteps, SpreadGpusAreOnePerServer) {
  EXPECT_EQ(row_of("P100,0,net,16,4,8,").workers_by_vm, (std::vector<int>{1, 1, 1, 1}));
}

TEST(GavelSteps, ABlankBatchIsOne) { EXPECT_EQ(row_of("K80,1,net,,1,3,").batch_per_worker, 1); }

TEST(GavelSteps, ARateOfZeroDoesNotFit) {
  const StepRow row = row_of("K80,1,net,16,1,0,0");
  EXPECT_EQ(row.unmeasured, "does not fit in memory");
  EXPECT_EQ(row.unusable, "");
  EXPECT_FALSE(row.time.has_value());
  EXPECT_FALSE(row.repeat.has_value());
  const StepRow repeat = row_of("K80,1,net,16,1,2,0");
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
  EXPECT_EQ(row_of("K80,1,net,16,1,,").unusable, "");
  EXPECT_EQ(row_of("K80,1,net,16,1,,").unmeasured, "");
}

TEST(GavelSteps, ARateThatCannotBeReadLeavesTheRowToBePredicted) {
  for (const char* rate : {"-2", "nan", "n/a", "1e-320"}) {
    const StepRow row = row_of(std::string("K80,1,net,16,1,") + rate + ",");
    EXPECT_EQ(row.unmeasured, std::string("rate '") + rate + "' cannot be read");
    EXPECT_EQ(row.unusable, "");
    EXPECT_FALSE(row.time.has_value());
  }
}

TEST(GavelSteps, SaysWhyARowIsOfNoUse) {
  EXPECT_EQ(row_of("K80,1,net,16,0,1,").unusable, "num_gpus '0' cannot be read");
  EXPECT_EQ(row_of("K80,yes,net,16,1,1,").unusable, "consolidated 'yes' cannot be read");
  EXPECT_EQ(row_of("K80,1,net,big,1,1,").unusable, "batch cell 'big' cannot be read");
  EXPECT_EQ(row_of("K80,1,,16,1,2,").unusable, "has no model");
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

}  // namespace
}  // namespace stint
