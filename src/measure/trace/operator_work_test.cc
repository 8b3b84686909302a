#include "measure/trace/operator_work.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

OperatorTensor floats(std::vector<std::int64_t> shape) {
  return {.shape = std::move(shape), .type = "float32"};
}

OperatorTensor weights(std::vector<std::int64_t> shape) {
  return {.shape = std::move(shape), .type = "float32", .fixed = true};
}

/// A layer of 64 × 256 and an activation, forward, and the gradient of the weights.
OperatorRun layer(std::int64_t batch) {
  OperatorRun run{.batch = static_cast<int>(batch)};
  run.operators = {
      {.name = "aten.mm",
       .inputs = {floats({batch, 64}), weights({64, 256})},
       .outputs = {floats({batch, 256})}},
      {.name = "aten.relu", .inputs = {floats({batch, 256})}, .outputs = {floats({batch, 256})}},
      {.name = "aten.threshold_backward",
       .phase = OperatorPhase::kBackward,
       .inputs = {floats({batch, 256}), floats({batch, 256})},
       .outputs = {floats({batch, 256})}},
      {.name = "aten.mm",
       .phase = OperatorPhase::kBackward,
       .inputs = {floats({64, batch}), floats({batch, 256})},
       .outputs = {weights({64, 256})}}};
  run.total = {
      .operators = 4,
      .kept = {{.type = "float32", .bytes = static_cast<double>(1280 * batch + 100) * kByte},
               {.type = "int64", .bytes = static_cast<double>(8 * batch) * kByte}},
      .update = 1 * kMB};
  return run;
}

const OperatorWork work_of(const std::vector<OperatorRun>& runs,
                           const OperatorChange& change = {}) {
  auto made = operator_work(runs, change);
  EXPECT_TRUE(made.ok());
  return std::move(*made);
}

// A product of 2 · 64 · 256 = 32 768 per sample, which reads and writes 4 · 320 = 1280 bytes per
// sample and 65 536 of weights; kept are 1288 bytes per sample and 100 besides.
TEST(OperatorWork, TwoBatchesSplitWhatGrows) {
  const OperatorWork made = work_of({layer(4), layer(8)});
  EXPECT_FALSE(made.by_shapes);
  ASSERT_EQ(made.work.operators.size(), 4U);
  const WorkOperator& product = made.work.operators[0];
  EXPECT_EQ(product.kind, WorkKind::kProduct);
  EXPECT_EQ(product.name, "mm");
  EXPECT_NEAR(product.flops->in(kFlop), 32768, 1e-6);
  EXPECT_NEAR(product.moved->in(kByte), 1280, 1e-6);
  EXPECT_NEAR(product.weights->in(kByte), 65536, 1e-6);
  EXPECT_EQ(product.backward, 0);
  EXPECT_FALSE(product.forward.has_value());
  const WorkOperator& gradient = made.work.operators[3];
  EXPECT_EQ(gradient.forward, 0);
  EXPECT_EQ(gradient.backward, 1);
  EXPECT_NEAR(flops_per_sample(made.work).in(kFlop), 65536, 1e-6);
  EXPECT_NEAR(made.work.activations->in(kByte), 1288, 1e-6);
  EXPECT_NEAR((*made.work.workspace - kLibraryWorkspace).in(kByte), 100, 1e-3);
  EXPECT_EQ(made.work.update_moved, 1 * kMB);
  EXPECT_TRUE(made.warnings.empty());
}

TEST(OperatorWork, OneBatchIsSplitByShapes) {
  const OperatorWork made = work_of({layer(8)});
  EXPECT_TRUE(made.by_shapes);
  const WorkOperator& product = made.work.operators[0];
  EXPECT_NEAR(product.flops->in(kFlop), 32768, 1e-6);
  EXPECT_NEAR(product.moved->in(kByte), 1280, 1e-6);
  EXPECT_NEAR(product.weights->in(kByte), 65536, 1e-6);
  EXPECT_NEAR(made.work.activations->in(kByte), 1288 + 100.0 / 8, 1e-6);
}

TEST(OperatorWork, ListsThatDifferAreSplitByShapes) {
  OperatorRun other = layer(4);
  other.operators.pop_back();
  EXPECT_TRUE(work_of({other, layer(8)}).by_shapes);
}

// In 16 bits everything of 32 takes half; autocast casts the weights: 1.5 · 65 536 bytes.
TEST(OperatorWork, AnotherPrecisionChangesBytes) {
  const OperatorWork mixed = work_of({layer(4), layer(8)}, {.precision = WorkPrecision::kMixed});
  EXPECT_NEAR(mixed.work.operators[0].moved->in(kByte), 640, 1e-6);
  EXPECT_NEAR(mixed.work.activations->in(kByte), 648, 1e-6);
  ASSERT_EQ(mixed.work.operators.size(), 5U);
  EXPECT_EQ(mixed.work.operators[4].name, "casts of weights");
  EXPECT_NEAR(mixed.work.operators[4].weights->in(kByte), 98304, 1e-6);
  EXPECT_EQ(mixed.work.precision, WorkPrecision::kMixed);
  EXPECT_EQ(work_of({layer(8)}, {.precision = WorkPrecision::kBf16}).work.operators.size(), 4U);
}

TEST(OperatorWork, ACompilerFusesChainsOfSweeps) {
  const OperatorWork made = work_of({layer(8)}, {.compiled = 0.5});
  // Forward and backward activation are one after the other: two sweeps, one chain.
  EXPECT_EQ(made.counts.sweeps, 2);
  EXPECT_EQ(made.counts.chains, 1);
  EXPECT_EQ(made.work.operators[1].kernels, 0.5);
  EXPECT_NEAR(made.work.operators[1].moved->in(kByte), 0.5 * 2048, 1e-6);
}

/// Scores of 2 heads over 5 tokens, their softmax and their use.
OperatorRun attention(std::int64_t batch) {
  const std::int64_t heads = 2 * batch;
  OperatorRun run{.batch = static_cast<int>(batch)};
  run.operators = {
      {.name = "aten.bmm",
       .inputs = {floats({heads, 5, 8}), floats({heads, 8, 5})},
       .outputs = {floats({heads, 5, 5})}},
      {.name = "aten.div", .inputs = {floats({heads, 5, 5})}, .outputs = {floats({heads, 5, 5})}},
      {.name = "aten._softmax",
       .inputs = {floats({batch, 2, 5, 5})},
       .outputs = {floats({batch, 2, 5, 5})}},
      {.name = "aten.bmm",
       .inputs = {floats({heads, 5, 5}), floats({heads, 5, 8})},
       .outputs = {floats({heads, 5, 8})}}};
  run.total = {.operators = 4};
  return run;
}

// Of a sample: 50 scores of 4 bytes, written by the first product, read and written by division
// and softmax, read by the second product: 6 · 200 bytes.
TEST(OperatorWork, FusedAttentionDropsTheScores) {
  const OperatorCounts counts = operator_counts(attention(4));
  EXPECT_EQ(counts.attentions, 1);
  EXPECT_EQ(counts.scores, 2);
  EXPECT_EQ(counts.batched, 2);
  EXPECT_NEAR(counts.score_bytes.in(kByte), 1200, 1e-6);
  const OperatorWork fused = work_of({attention(2), attention(4)}, {.fused_attention = true});
  ASSERT_EQ(fused.work.operators.size(), 2U);  // Queries and keys; values and results.
  for (const WorkOperator& it : fused.work.operators) {
    EXPECT_NEAR(it.moved->in(kByte), 4 * 2 * 80, 1e-6);
    EXPECT_EQ(it.kernels, 0.5);
  }
  EXPECT_NEAR(flops_per_sample(fused.work).in(kFlop), 2 * 2 * 2 * 5 * 5 * 8, 1e-6);
}

TEST(OperatorWork, AnIterationOfPartsIsOnePass) {
  OperatorRun run = layer(8);
  run.passes = 2;
  const auto once = run.operators;
  run.operators.insert(run.operators.end(), once.begin(), once.end());
  EXPECT_NEAR(flops_per_sample(work_of({run}).work).in(kFlop), 65536, 1e-6);
  EXPECT_EQ(operator_counts(run).products, 2);
}

TEST(OperatorWork, ShapesThatNoComputerHoldsAreRefused) {
  OperatorRun run = layer(8);
  run.operators[0].inputs[0].shape = {1'000'000'000'000, 1'000'000'000'000};
  EXPECT_EQ(operator_work(std::vector<OperatorRun>{run}, {}).error().kind, ErrorKind::kBadInput);
}

// A loss over all pairs of samples grows with the square of the batch.
TEST(OperatorWork, ArithmeticThatDoesNotGrowIsLeftOutWithAWarning) {
  OperatorRun small = layer(4);
  OperatorRun large = layer(8);
  for (OperatorRun* run : {&small, &large}) {
    run->operators.push_back({.name = "aten.mm",
                              .inputs = {weights({64, 256}), weights({256, 64})},
                              .outputs = {weights({64, 64})}});
    run->operators.push_back({.name = "aten.mkldnn_rnn_layer"});
    run->total.omitted = 3;
  }
  const OperatorWork made = work_of({small, large});
  EXPECT_NEAR(flops_per_sample(made.work).in(kFlop), 65536, 1e-6);
  ASSERT_EQ(made.warnings.size(), 3U);
  EXPECT_EQ(made.warnings[0],
            "the arithmetic of aten.mkldnn_rnn_layer is not known and not counted");
  EXPECT_NE(made.warnings[1].find("3 operators"), std::string::npos);
  // 2 097 152 of it, and 65 536 for each of 8 samples.
  EXPECT_EQ(made.warnings[2],
            "80 % of the arithmetic does not grow with the batch and is left out");
}

TEST(OperatorWork, ManySweepsAreJoined) {
  OperatorRun run = layer(8);
  for (std::int64_t i = 1; i <= 1200; ++i) {
    run.operators.push_back({.name = "aten.add", .inputs = {floats({8, i})}});
  }
  const OperatorWork made = work_of({run});
  ASSERT_EQ(made.work.operators.size(), 4U);  // Two products, and the sweeps of each pass.
  // 1200 · 1201/2 numbers of 4 bytes, and 2048 of the activation.
  EXPECT_NEAR(made.work.operators[2].moved->in(kByte), 4 * 720600 + 2048, 1e-3);
  EXPECT_EQ(made.work.operators[2].kernels, 1201);
}

ProfileRecord step(std::int64_t number, int batch) {
  ProfileRecord record;
  record.iteration = ProfiledStep{.number = number, .batch = batch};
  return record;
}

std::vector<ProfileRecord> lines_of(std::int64_t number, const OperatorRun& run) {
  ProfileRecord list;
  list.operators = OperatorLine{.number = number, .list = run.operators};
  ProfileRecord total;
  total.total = run.total;
  total.total->number = number;
  return {list, total};
}

TEST(OperatorRun, TakesTheLastIterationThatIsWhole) {
  ProfileSummary summary;
  summary.seen_batch = 8;
  summary.compute.batch_per_worker = 8;
  std::vector<ProfileRecord> records = lines_of(1, layer(8));
  EXPECT_FALSE(operator_run(records, summary).ok());  // No iteration of that number.
  records.push_back(step(1, 8));
  const auto run = operator_run(records, summary);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->batch, 8);
  EXPECT_EQ(run->operators.size(), 4U);
  // The last batch of an epoch is smaller, and a list may have been cut off.
  for (ProfileRecord& it : lines_of(2, layer(3))) records.push_back(it);
  records.push_back(step(2, 3));
  records.push_back(lines_of(3, layer(8))[0]);
  records.push_back(step(3, 8));
  EXPECT_EQ(operator_run(records, summary)->total.number, 1);
}

}  // namespace
}  // namespace stint
