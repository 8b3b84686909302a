#include "measure/sharded/named_shapes.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(NamedShapes, ReadsTheSpellingsOfTables) {
  for (const char* name : {"LLAMA3-8B", "LLAMA3_8B", "Llama 3.1 8b", "llama3.1-8b"}) {
    const auto shape = named_shape(name);
    ASSERT_TRUE(shape) << name;
    EXPECT_EQ(shape->layers, 32) << name;
    EXPECT_EQ(shape->kv_heads, 8) << name;
    EXPECT_EQ(shape->wide, 14336) << name;
  }
  EXPECT_EQ(named_shape("Maxtext LLama2 70b")->layers, 80);
  EXPECT_EQ(named_shape("llama7b_bsz16")->hidden, 4096);
  EXPECT_EQ(named_shape("roberta")->vocabulary, 50265);
  EXPECT_EQ(named_shape("OPT-350")->hidden, 1024);
  EXPECT_EQ(named_shape("Qwen3_30B_a3B (tokendrop)")->experts, 128);
}

TEST(NamedShapes, DoesNotGuess) {
  EXPECT_FALSE(named_shape("Nemotron_3_Nano"));
  EXPECT_FALSE(named_shape(""));
}

}  // namespace
}  // namespace stint
