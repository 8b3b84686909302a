#include "predict/operators.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

const TransformerShape kGpt2Small{.type = TransformerType::kGpt2,
                                  .layers = 12,
                                  .hidden = 768,
                                  .heads = 12,
                                  .feed_forward = 3072,
                                  .vocabulary = 50257,
                                  .positions = 1024};
const TransformerShape kBertBase{.type = TransformerType::kBert,
                                 .layers = 12,
                                 .hidden = 768,
                                 .heads = 12,
                                 .feed_forward = 3072,
                                 .vocabulary = 30522,
                                 .positions = 512};
const TransformerShape kOpt{.type = TransformerType::kOpt,
                            .layers = 24,
                            .hidden = 2048,
                            .heads = 32,
                            .feed_forward = 8192,
                            .vocabulary = 50272,
                            .positions = 2050};
const TransformerShape kSwitch{.type = TransformerType::kSwitch,
                               .layers = 24,
                               .hidden = 1024,
                               .heads = 32,
                               .feed_forward = 16384,
                               .vocabulary = 32128,
                               .experts = 4};

double of_class(const std::vector<Operator>& operators, OperatorClass kind) {
  double flops = 0;
  for (const Operator& it : operators) {
    if (it.kind == kind) flops += it.count * arithmetic(it).in(kFlop);
  }
  return flops;
}

// The counts of the published checkpoints.
TEST(Parameters, AreThoseOfPublishedModels) {
  EXPECT_DOUBLE_EQ(parameters(kGpt2Small), 124'439'808);
  EXPECT_DOUBLE_EQ(parameters(kBertBase), 109'482'240);
  EXPECT_DOUBLE_EQ(parameters(kOpt), 1'315'758'080);
  TransformerShape large = kGpt2Small;
  large.layers = 36;
  large.hidden = 1280;
  large.heads = 20;
  large.feed_forward = 5120;
  EXPECT_DOUBLE_EQ(parameters(large), 774'030'080);
}

// 2 · 128 tokens; per token of GPT-2: 12 layers · 12 · 768² weights + 768 · 50257 of the head.
TEST(ForwardOperators, MultiplyEveryTokenByEveryWeight) {
  const auto operators = forward_operators(kGpt2Small, {.batch = 2, .length = 128}, 4 * kByte);
  const double weights = 12 * 12 * 768.0 * 768 + 768.0 * 50257;
  EXPECT_DOUBLE_EQ(of_class(operators, OperatorClass::kProduct), 2 * 256 * weights);
  // Scores and their use: 2 · 2 · batch · length² · hidden for each layer.
  EXPECT_DOUBLE_EQ(of_class(operators, OperatorClass::kBatchedProduct),
                   12 * 2 * 2.0 * 2 * 128 * 128 * 768);
}

// BERT-base at 128 tokens is published with 22.4 GFLOP: 85 M weights of the layers, attention.
TEST(ForwardOperators, GiveThePublishedArithmeticOfBert) {
  const auto operators = forward_operators(kBertBase, {.batch = 1, .length = 128}, 4 * kByte);
  EXPECT_NEAR(arithmetic(operators).in(kGigaflop), 22.4, 0.2);
}

// Every token meets one expert, so the arithmetic does not depend on their number: attention
// 3 · 24 · 4 · 1024 · 2048, feed-forward 48 · 2 · 1024 · 16384, head 1024 · 32128.
TEST(ForwardOperators, SendATokenToOneExpert) {
  TransformerShape alone = kSwitch;
  alone.experts = 1;
  const TokenBatch tokens{.batch = 1, .length = 512};
  const double weights = 3 * 24 * 4 * 1024.0 * 2048 + 48 * 2 * 1024.0 * 16384 + 1024.0 * 32128;
  for (const TransformerShape& shape : {kSwitch, alone}) {
    const auto operators = forward_operators(shape, tokens, 4 * kByte);
    EXPECT_DOUBLE_EQ(of_class(operators, OperatorClass::kProduct), 2 * 512 * weights);
  }
}

TEST(ForwardOperators, SplitArithmeticOverParts) {
  const TokenBatch tokens{.batch = 4, .length = 256};
  for (const TransformerShape& shape : {kGpt2Small, kBertBase, kOpt, kSwitch}) {
    const Flops whole = arithmetic(forward_operators(shape, tokens, 4 * kByte));
    const Flops part = arithmetic(forward_operators(shape, tokens, 4 * kByte, 4));
    EXPECT_NEAR(whole / part, 4, 1e-9);
  }
}

TEST(ForwardOperators, MoveHalfTheBytesInHalfTheWidth) {
  const TokenBatch tokens{.batch = 4, .length = 256};
  for (const TransformerShape& shape : {kGpt2Small, kBertBase, kOpt, kSwitch}) {
    const Bytes single = moved(forward_operators(shape, tokens, 4 * kByte));
    const Bytes half = moved(forward_operators(shape, tokens, 2 * kByte));
    EXPECT_NEAR(single / half, 2, 1e-9);
  }
}

// m = 2, n = 3, k = 4: 48 operations, 8 + 12 + 6 values of 4 bytes.
TEST(ForwardOperators, CountAProductByHand) {
  const TransformerShape tiny{.type = TransformerType::kOpt,
                              .layers = 1,
                              .hidden = 4,
                              .heads = 1,
                              .feed_forward = 3,
                              .vocabulary = 5};
  const auto operators = forward_operators(tiny, {.batch = 1, .length = 2}, 4 * kByte);
  const Operator& up = operators[2];
  EXPECT_EQ(up.kind, OperatorClass::kProduct);
  EXPECT_DOUBLE_EQ(arithmetic(up).in(kFlop), 48);
  EXPECT_DOUBLE_EQ(up.moved.in(kByte), 104);
}

}  // namespace
}  // namespace stint
