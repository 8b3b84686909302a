#include "measure/tables/zeus_table.h"

#include <gtest/gtest.h>
#include <string>

namespace stint {
namespace {

Result<std::vector<ZeusRow>> read(const std::string& text) {
  const auto csv = Csv::parse(text, "z.csv");
  if (!csv.ok()) return csv.error();
  return read_zeus_epochs(*csv);
}

const std::string kHeader =
    "gpu,dataset,network,batch,optimizer,power_limit_w,epoch_s,average_power_w\n";

TEST(ZeusTable, ReadsEpochs) {
  const auto rows = read(kHeader + "V100,imagenet,resnet50,128,adadelta,250,3603.6,222\n");
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows->front().network, "resnet50");
  EXPECT_EQ(rows->front().batch, 128);
  EXPECT_EQ(rows->front().power_limit_w, 250);
  EXPECT_EQ(rows->front().average_power_w, 222);
  EXPECT_EQ(rows->front().epoch, 3603.6 * kSecond);
}

TEST(ZeusTable, ReadsRowsWithoutAnswers) {
  const auto rows = read("gpu,dataset,network,batch,optimizer,power_limit_w\nA40,a,b,8,adam,300\n");
  ASSERT_TRUE(rows.ok());
  EXPECT_FALSE(rows->front().epoch);
  EXPECT_FALSE(rows->front().average_power_w);
}

TEST(ZeusTable, RefusesBadCells) {
  EXPECT_FALSE(read(kHeader + "V100,a,b,0,adam,250,1,1\n").ok());
  EXPECT_FALSE(read(kHeader + "V100,a,b,8,adam,,1,1\n").ok());
  EXPECT_FALSE(read(kHeader + "V100,a,b,8,adam,250,soon,1\n").ok());
  EXPECT_FALSE(read(kHeader + ",a,b,8,adam,250,1,1\n").ok());
  EXPECT_FALSE(read("gpu,power_limit_w\nV100,250\n").ok());
}

TEST(ZeusTable, KnowsItsTwoTablesByTheirHeaders) {
  const auto epochs = Csv::parse(kHeader, "z.csv");
  const auto targets = Csv::parse("dataset,network,target_metric,epochs\n", "z.csv");
  EXPECT_TRUE(is_zeus_epochs(*epochs));
  EXPECT_FALSE(is_zeus_targets(*epochs));
  EXPECT_TRUE(is_zeus_targets(*targets));
}

// Of two limits the higher one counts. An epoch of 60 s at batch 8 is half of 120 s at batch 8, and
// 60 · 8 = 480 is what a step takes relative to 50 · 16 = 800 at batch 16.
TEST(ZeusTable, BecomesStepsUnderTheHighestLimit) {
  const auto rows = read(kHeader + "V100,a,b,8,adam,100,90,1\nV100,a,b,8,adam,250,60,1\n" +
                         "P100,a,b,8,adam,250,120,1\nV100,a,b,16,adam,250,50,1\n");
  ASSERT_TRUE(rows.ok());
  const auto steps = steps_of(*rows);
  ASSERT_EQ(steps.size(), 3U);
  const auto weight = [](const StepRow& row) { return row.times_per_step * row.time->in(kSecond); };
  EXPECT_EQ(steps[0].device, "P100-PCIe");
  EXPECT_EQ(steps[0].job, "a b");
  EXPECT_EQ(weight(steps[0]), 960);
  EXPECT_EQ(weight(steps[1]), 480);
  EXPECT_EQ(weight(steps[2]), 800);
}

TEST(ZeusTable, NamesTheMachinesOfTheAuthors) {
  EXPECT_EQ(zeus_machine("V100").board, "V100S-PCIe");
  EXPECT_EQ(zeus_machine("P100").processor_year, 2014);
  EXPECT_EQ(zeus_machine("L4").board, "L4");
  EXPECT_FALSE(zeus_machine("L4").processor_year);
  EXPECT_EQ(zeus_machine("A40").processor_maker, "AMD");
  EXPECT_EQ(zeus_machine("L4").processor_maker, "");
}

TEST(ZeusTable, KnowsWhichWorkloadTrainsAt16Bits) {
  EXPECT_TRUE(is_mixed_precision("deepspeech2"));
  EXPECT_FALSE(is_mixed_precision("resnet50"));
}

}  // namespace
}  // namespace stint
