#include "measure/tables/nvidia_batch.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

std::optional<double> batch(std::string_view cell, std::string_view column,
                            std::string_view precision) {
  return batch_per_gpu({.cell = cell, .column = column, .precision = precision, .gpus = 4});
}

TEST(NvidiaBatch, ReadsPrintedNumbers) {
  EXPECT_EQ(printed_number("64"), 64);
  EXPECT_EQ(printed_number(" 1,048,576 "), 1048576);
  EXPECT_EQ(printed_number("1,234.5"), 1234.5);
  EXPECT_EQ(printed_number("2.25e+07"), 22500000);
  EXPECT_EQ(printed_number("64k"), 65536);
  for (const char* text : {"", "k", "0", "-1", "4,2", "1,0485", ",,", "64 (FP32)", "nan"}) {
    EXPECT_FALSE(printed_number(text).has_value()) << text;
  }
}

TEST(NvidiaBatch, ChoosesByTheLabelsOfTheCell) {
  EXPECT_EQ(batch("64 (FP32) / 96 (AMP)", "Batch Size / GPU", "FP32"), 64);
  EXPECT_EQ(batch("64 (FP32) / 96 (AMP)", "Batch Size / GPU", "mixed"), 96);
  EXPECT_EQ(batch("128 (TF) / 256 (AMP)", "Batch Size / GPU", "TF32"), 128);
}

TEST(NvidiaBatch, ChoosesByTheLabelsOfTheColumn) {
  EXPECT_EQ(batch("16  and 32", "Batch size / GPU (TF32 and FP16)", "TF32"), 16);
  EXPECT_EQ(batch("16  and 32", "Batch size / GPU (TF32 and FP16)", "mixed"), 32);
  EXPECT_EQ(batch("4,2", "Batch size / GPU: mixed precision, FP32", "mixed"), 4);
  EXPECT_EQ(batch("24 , 10", "Batch size / GPU: mixed precision, FP32", "FP32"), 10);
  EXPECT_EQ(batch("8 : 16", "Batch size / GPU (FP32 : mixed precision)", "mixed"), 16);
  EXPECT_EQ(batch("32", "Batch size / GPU (TF32 and FP16)", "mixed"), 32);
}

TEST(NvidiaBatch, MixedPrecisionHasTheLargerOfTwoWithoutLabels) {
  EXPECT_EQ(batch("6000/3000", "Batch size / GPU", "mixed"), 6000);
  EXPECT_EQ(batch("6000/3000", "Batch size / GPU", "FP32"), 3000);
}

TEST(NvidiaBatch, IsNothingWhenThePrecisionDoesNotChoose) {
  EXPECT_FALSE(batch("8 : 16", "Batch size / GPU (FP32 : mixed precision)", "").has_value());
  EXPECT_EQ(batch("8 : 8", "Batch size / GPU (FP32 : mixed precision)", ""), 8);
  EXPECT_FALSE(batch("a few", "Batch size / GPU", "FP32").has_value());
}

// 64 shared by 4 GPUs are 16 each.
TEST(NvidiaBatch, AGlobalBatchIsShared) {
  EXPECT_EQ(batch("64", "Global batch size", "FP32"), 16);
  EXPECT_EQ(batch("64", "Batch", "FP32"), 64);
}

TEST(NvidiaBatch, ABlankCellIsTheBatchOfTheTitleOrOne) {
  EXPECT_EQ(batch_per_gpu({.throughput_column = "Throughput - TF32 (BS=104)"}), 104);
  EXPECT_EQ(batch_per_gpu({.throughput_column = "Throughput - TF32"}), 1);
  EXPECT_FALSE(batch_per_gpu({.throughput_column = "Throughput (BS=many)"}).has_value());
}

}  // namespace
}  // namespace stint
