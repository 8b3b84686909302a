#include "measure/tables/timm_table.h"

#include <gtest/gtest.h>
#include <string>

namespace stint {
namespace {

const std::string kTrain =
    "model,gpu,precision,layout,torch,image_size,batch,train_samples_per_s,step_s,params_m,"
    "gmacs_forward,activations_m_forward\n";
const std::string kInfer =
    "model,gpu,precision,layout,torch,mode,image_size,batch,infer_samples_per_s,step_s,params_m,"
    "gmacs,activations_m\n";

Result<std::vector<TimmRow>> read(const std::string& text) {
  const auto csv = Csv::parse(text, "t.csv");
  if (!csv.ok()) return csv.error();
  EXPECT_TRUE(is_timm_table(*csv));
  return read_timm_table(*csv);
}

TEST(TimmTable, ReadsTrainingRows) {
  const auto rows = read(kTrain + "resnet50,rtx3090,amp,nhwc,1.12,224,256,800,0.32,25.6,4.1,11\n");
  ASSERT_TRUE(rows.ok());
  const TimmRow& row = rows->front();
  EXPECT_EQ(row.mode, "train");
  EXPECT_EQ(row.layout, "nhwc");
  EXPECT_EQ(row.batch, 256);
  EXPECT_EQ(row.gmacs, 4.1);
  EXPECT_EQ(row.activations_m, 11);
  EXPECT_EQ(row.step, 0.32 * kSecond);
}

TEST(TimmTable, ReadsInferenceRowsAndTheRateWhereTheStepIsBlank) {
  // 256 images at 512 images a second take half a second.
  const auto rows = read(kInfer + "vit,rtx4090,amp,nchw,2.4,compiled,224,256,512,,5.7,1.1,4\n");
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows->front().mode, "compiled");
  EXPECT_EQ(rows->front().step, 0.5 * kSecond);
}

TEST(TimmTable, ReadsRowsWithoutAnswersAndWithoutShapes) {
  const auto rows = read(
      "model,gpu,precision,layout,torch,image_size,batch,params_m,gmacs_forward\n"
      "a,rtx3090,amp,nchw,1.12,224,256,5,\n");
  ASSERT_TRUE(rows.ok());
  EXPECT_FALSE(rows->front().step);
  EXPECT_FALSE(rows->front().gmacs);
  EXPECT_FALSE(rows->front().activations_m);
}

TEST(TimmTable, TakesAFigureThatWasRoundedToZeroForAbsent) {
  const auto rows = read(kTrain + "tiny,rtx3090,amp,nchw,1.12,32,256,800,0.32,0.1,0.00,0.1\n");
  ASSERT_TRUE(rows.ok());
  EXPECT_FALSE(rows->front().gmacs);
}

TEST(TimmTable, RefusesBadCellsAndMissingColumns) {
  EXPECT_FALSE(read(kTrain + "a,rtx3090,amp,nchw,1.12,224,none,1,1,1,1,1\n").ok());
  EXPECT_FALSE(read(kTrain + ",rtx3090,amp,nchw,1.12,224,8,1,1,1,1,1\n").ok());
  EXPECT_FALSE(read(kTrain + "a,rtx3090,amp,nchw,1.12,224,8,1,-1,1,1,1\n").ok());
  EXPECT_FALSE(read("model,image_size,gmacs_forward\na,224,1\n").ok());
}

TEST(TimmTable, KnowsItsHeadersFromOthers) {
  EXPECT_FALSE(is_timm_table(*Csv::parse("gpu,dataset,power_limit_w\n", "t.csv")));
}

TEST(TimmTable, TakesTheLeadingLettersForTheFamily) {
  EXPECT_EQ(timm_family("resnet50"), "resnet");
  EXPECT_EQ(timm_family("tf_efficientnet_b0"), "tf");
  EXPECT_EQ(timm_family("VGG16"), "vgg");
  EXPECT_EQ(timm_family("3d"), "");
}

}  // namespace
}  // namespace stint
