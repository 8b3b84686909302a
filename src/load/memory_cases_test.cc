#include "load/memory_cases.h"

#include <gtest/gtest.h>

#include "load/catalog_cases.h"

namespace stint {
namespace {

MemoryLayoutRow bloom_row() {
  MemoryLayoutRow row{.software = "bloom", .date = "02-25", .devices = {"A100-80GB"}};
  row.model.parameters = 181e9;
  row.model.layers = 72;
  row.model.hidden = 14336;
  row.sequence = 2048;
  row.global_batch = 2048;
  row.layout = {.data = 8, .tensor = 8, .pipeline = 6, .zero = 1, .micro_batch = 4};
  row.memory = 55;
  return row;
}

// 12 · 72 · 14336² = 177.6 billion, and 250 880 · 14336 = 3.6 billion embeddings: 181 billion.
TEST(MemoryCases, BloomHasItsFinalVocabulary) {
  const LoadedMemoryCase it = memory_case(bloom_row(), bundled_catalog());
  EXPECT_EQ(it.row.problem, "");
  EXPECT_EQ(it.model, "181B");
  EXPECT_DOUBLE_EQ(it.as_case.setup.shape.vocabulary, 250880);
  EXPECT_FALSE(it.as_case.setup.fused_attention);
  EXPECT_DOUBLE_EQ(it.as_case.peak->in(kGB), 55);
  EXPECT_DOUBLE_EQ(it.room->in(kGiB), 80);
}

// 12 · 14400² = 2.49 billion a layer: 194 billion are 78 layers, which 6 stages divide, with the
// smaller vocabulary.
TEST(MemoryCases, BlankLayersFollowFromTheParameters) {
  MemoryLayoutRow row = bloom_row();
  row.model.parameters = 194e9;
  row.model.layers.reset();
  row.model.hidden = 14400;
  const LoadedMemoryCase it = memory_case(row, bundled_catalog());
  EXPECT_DOUBLE_EQ(it.as_case.setup.shape.layers, 78);
  EXPECT_DOUBLE_EQ(it.as_case.setup.shape.vocabulary, 50304);
}

// Ten layers are 28 billion parameters; 18 are a slip that the vocabulary must not follow.
TEST(MemoryCases, WrongParametersAreNotFollowed) {
  MemoryLayoutRow row = bloom_row();
  row.model.parameters = 18e9;
  row.model.layers = 10;
  EXPECT_DOUBLE_EQ(memory_case(row, bundled_catalog()).as_case.setup.shape.vocabulary, 250880);
}

// 16 · (4 · 2048² + 3 · 2048 · 8192) + 131 072 · 2048 = 1.34 billion: embeddings are tied.
TEST(MemoryCases, NanotronsEmbeddingsAreTiedWhereThatFits) {
  MemoryLayoutRow row{.format = MemoryFormat::kNanotron, .software = "nanotron"};
  row.devices = {"H100"};
  row.model.parameters = 1.34e9;
  row.model.layers = 16;
  row.model.hidden = 2048;
  row.model.heads = 32;
  row.model.feed_forward = 8192;
  row.model.vocabulary = 131072;
  row.sequence = 4096;
  const LoadedMemoryCase it = memory_case(row, bundled_catalog());
  EXPECT_LT(it.as_case.setup.shape.end_parameters, 1e6);
  EXPECT_DOUBLE_EQ(it.as_case.states.gradient.in(kByte), 6);
  row.model.parameters = 1.6e9;
  EXPECT_GT(memory_case(row, bundled_catalog()).as_case.setup.shape.end_parameters, 2e8);
}

TEST(MemoryCases, FsdpHoldsFullPrecision) {
  MemoryLayoutRow row{.format = MemoryFormat::kFsdpTables, .software = "torchtitan"};
  row.devices = {"H100-96GB-HBM2e-500W"};
  row.model.name = "llama3.1-8b";
  row.sequence = 8192;
  row.layout = {.data = 8, .zero = 3};
  const LoadedMemoryCase it = memory_case(row, bundled_catalog());
  EXPECT_EQ(it.row.problem, "");
  EXPECT_DOUBLE_EQ(it.as_case.setup.shape.kv, 1024);
  EXPECT_DOUBLE_EQ(it.as_case.states.parameter.in(kByte), 4);
  EXPECT_DOUBLE_EQ(it.room->in(kGiB), 96);
  row.model.name = "unheard-of";
  EXPECT_NE(memory_case(row, bundled_catalog()).row.problem, "");
}

// Stages 0-11 and 12-25 of 24 layers between embeddings (0) and head (25).
TEST(MemoryCases, SailorsStagesCountLayersOnly) {
  MemoryLayoutRow row{.format = MemoryFormat::kSailor, .software = "sailor mit"};
  row.devices = {"RTX-3090", "Titan-RTX"};
  row.model.name = "OPT-350";
  row.global_batch = 256;
  row.layout = {.tensor = 2, .pipeline = 2, .micro_batch = 2};
  row.stages = {{0, 11}, {12, 25}};
  const LoadedMemoryCase it = memory_case(row, bundled_catalog());
  ASSERT_EQ(it.as_case.stages.size(), 2u);
  EXPECT_DOUBLE_EQ(it.as_case.stages[0].layers, 11);
  EXPECT_DOUBLE_EQ(it.as_case.stages[0].in_flight, 2);
  EXPECT_DOUBLE_EQ(it.as_case.stages[1].layers, 13);
  EXPECT_TRUE(it.as_case.stages[1].last);
  row.stages = {{0, 11}, {12, 20}};
  EXPECT_NE(memory_case(row, bundled_catalog()).row.problem.find("layer 20"), std::string::npos);
}

TEST(MemoryCases, NamedTablesSayTheirFormat) {
  const auto other = load_named_memory_cases("table.csv", "--prior", bundled_catalog());
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("--prior must be FORMAT=FILE"), std::string::npos);
  const auto missing = load_named_memory_cases("bloom=none.csv", "--prior", bundled_catalog());
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("none.csv"), std::string::npos);
}

}  // namespace
}  // namespace stint
