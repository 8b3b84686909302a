#include "measure/trace/operator_figures.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

OperatorTensor floats(std::vector<std::int64_t> shape) {
  return {.shape = std::move(shape), .type = "float32"};
}

OperatorTensor weights(std::vector<std::int64_t> shape) {
  return {.shape = std::move(shape), .type = "float32", .fixed = true};
}

double flops_of(const ProfiledOperator& it) { return operator_figures(it).flops.in(kFlop); }

// 8 rows of 64 times 64 × 256, and a bias: 2 · 8 · 64 · 256 = 262 144. In bytes the weights are
// 4 · (256 + 64 · 256) = 66 560, rows and results 4 · 8 · (64 + 256) = 10 240.
TEST(OperatorFigures, AProductIsTwiceItsThreeSizes) {
  const ProfiledOperator it{.name = "aten.addmm",
                            .inputs = {weights({256}), floats({8, 64}), weights({64, 256})},
                            .outputs = {floats({8, 256})}};
  const OperatorFigures figures = operator_figures(it);
  EXPECT_EQ(figures.kind, WorkKind::kProduct);
  EXPECT_EQ(figures.flops, 262144 * kFlop);
  EXPECT_EQ(figures.depth, 64);
  EXPECT_EQ(figures.fixed.single, 66560 * kByte);
  EXPECT_EQ(figures.scaled.single, 10240 * kByte);
  EXPECT_EQ(flops_of({.name = "aten.mm", .inputs = {floats({8, 64}), floats({64, 256})}}), 262144);
  EXPECT_EQ(flops_of({.name = "aten.mv", .inputs = {floats({8, 64}), floats({64})}}), 1024);
  // The weights of linear are stored as outputs × inputs.
  EXPECT_EQ(flops_of({.name = "aten.linear", .inputs = {floats({2, 4, 64}), weights({256, 64})}}),
            262144);
}

// 6 heads of 10 × 4 times 4 × 12: 2 · 6 · 10 · 4 · 12 = 5760.
TEST(OperatorFigures, ProductsOfABatchCountAsAttention) {
  const ProfiledOperator it{.name = "aten.bmm", .inputs = {floats({6, 10, 4}), floats({6, 4, 12})}};
  EXPECT_EQ(operator_figures(it).kind, WorkKind::kAttention);
  EXPECT_EQ(flops_of(it), 5760);
  EXPECT_EQ(flops_of({.name = "aten.baddbmm",
                      .inputs = {floats({6, 10, 12}), floats({6, 10, 4}), floats({6, 4, 12})}}),
            5760);
}

// 2 pictures, 8 filters of 3 · 3 · 3 on 16 × 16: 2 · (2 · 8 · 256) · 27 = 221 184.
TEST(OperatorFigures, AConvolutionIsItsResultsTimesAFilter) {
  ProfiledOperator it{.name = "aten.convolution",
                      .inputs = {floats({2, 3, 16, 16}), weights({8, 3, 3, 3})},
                      .outputs = {floats({2, 8, 16, 16})}};
  const OperatorFigures figures = operator_figures(it);
  EXPECT_EQ(figures.kind, WorkKind::kConvolution);
  EXPECT_EQ(figures.flops, 221184 * kFlop);
  EXPECT_EQ(figures.depth, 27);
  EXPECT_EQ(figures.written.single, 4 * 2 * 8 * 256 * kByte);
  // With two groups each filter sees half of the inputs: 4 channels of 8.
  it.inputs = {floats({2, 8, 16, 16}), weights({8, 4, 3, 3})};
  EXPECT_EQ(flops_of(it), 2.0 * 2 * 8 * 256 * 36);
  // Transposed: every one of 2 · 3 · 16 · 16 inputs meets 8 · 3 · 3 weights.
  it.transposed = true;
  it.inputs = {floats({2, 3, 16, 16}), weights({3, 8, 3, 3})};
  it.outputs = {floats({2, 8, 32, 32})};
  EXPECT_EQ(flops_of(it), 2.0 * 2 * 3 * 256 * 72);
}

TEST(OperatorFigures, TheBackwardPassOfAConvolutionIsOneOrTwo) {
  ProfiledOperator it{
      .name = "aten.convolution_backward",
      .phase = OperatorPhase::kBackward,
      .inputs = {floats({2, 8, 16, 16}), floats({2, 3, 16, 16}), weights({8, 3, 3, 3})},
      .outputs = {floats({2, 3, 16, 16}), weights({8, 3, 3, 3})},
      .runs = 2};
  EXPECT_EQ(operator_figures(it).flops, 221184 * kFlop);
  EXPECT_EQ(operator_figures(it).runs, 2);
  it.runs = 1;  // The first layer has no gradient of its input.
  EXPECT_EQ(operator_figures(it).runs, 1);
}

// 2 · 4 heads, 10 queries, 12 keys, width 8: 2 · 8 · 10 · 12 · (8 + 8) = 30 720; half if causal.
TEST(OperatorFigures, FusedAttentionIsTwoProducts) {
  ProfiledOperator it{
      .name = "aten._scaled_dot_product_flash_attention_for_cpu",
      .inputs = {floats({2, 4, 10, 8}), floats({2, 4, 12, 8}), floats({2, 4, 12, 8})}};
  EXPECT_EQ(operator_figures(it).kind, WorkKind::kAttention);
  EXPECT_EQ(flops_of(it), 30720);
  it.causal = true;
  EXPECT_EQ(flops_of(it), 15360);
  it.name += "_backward";
  it.causal = false;
  it.inputs.insert(it.inputs.begin(), floats({2, 4, 10, 8}));
  EXPECT_EQ(flops_of(it), 2.5 * 30720);
}

TEST(OperatorFigures, SweepsReadAndWrite) {
  const OperatorFigures relu = operator_figures(
      {.name = "aten.relu", .inputs = {floats({2, 100})}, .outputs = {floats({2, 100})}});
  EXPECT_EQ(relu.kind, WorkKind::kSweep);
  EXPECT_EQ(relu.flops, Flops{});
  EXPECT_EQ(relu.scaled.single, 1600 * kByte);
  // A norm reads its input twice, besides its weights.
  const OperatorFigures norm =
      operator_figures({.name = "aten.native_layer_norm",
                        .inputs = {floats({2, 100}), weights({100}), weights({100})},
                        .outputs = {floats({2, 100})}});
  EXPECT_EQ(norm.scaled.single, 2400 * kByte);
  EXPECT_EQ(norm.fixed.single, 800 * kByte);
  // A look-up reads what it writes, not the whole table.
  const OperatorFigures look_up = operator_figures({.name = "aten.embedding",
                                                    .inputs = {weights({50000, 8}), floats({2, 3})},
                                                    .outputs = {floats({2, 3, 8})}});
  EXPECT_EQ(look_up.scaled.single, 2 * 4 * 48 * kByte);
  EXPECT_EQ(look_up.fixed.single, Bytes{});
}

// An expanded tensor has the numbers that are stored, whatever its shape.
TEST(OperatorFigures, BytesFollowTypesAndStorage) {
  WidthBytes bytes;
  bytes.add({.shape = {10, 10}, .type = "bfloat16"});
  bytes.add({.shape = {10, 10}, .type = "float32", .stored = 10});
  bytes.add({.shape = {10}, .type = "int64"});
  bytes.add({.shape = {10}, .type = "bool"});
  EXPECT_EQ(bytes.half, 200 * kByte);
  EXPECT_EQ(bytes.single, 40 * kByte);
  EXPECT_EQ(bytes.other, 90 * kByte);
}

TEST(OperatorFigures, ShapesThatAreNoProductAreSweeps) {
  for (const ProfiledOperator& it :
       {ProfiledOperator{.name = "aten.mm", .inputs = {floats({8, 64})}},
        ProfiledOperator{.name = "aten.mm", .inputs = {floats({}), floats({})}},
        ProfiledOperator{.name = "aten.convolution", .inputs = {floats({1}), floats({1})}},
        ProfiledOperator{.name = "", .inputs = {}}}) {
    EXPECT_EQ(operator_figures(it).kind, WorkKind::kSweep);
  }
  EXPECT_TRUE(unknown_arithmetic({.name = "aten.mkldnn_rnn_layer"}));
  EXPECT_FALSE(unknown_arithmetic({.name = "aten.relu"}));
}

}  // namespace
}  // namespace stint
