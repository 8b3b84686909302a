#include "models/model_config.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

/// A configuration of tests/configs and the parameters that its publisher states.
struct Published {
  const char* name;
  double parameters;
};

constexpr Published kPublished[] = {
    {"gpt2", 124'439'808},
    {"bert-base-uncased", 109'482'240},
    {"t5-small", 60'506'624},
    {"flan-t5-base", 247'577'856},
    {"vit-base-patch16-224", 86'567'656},
    {"llama-2-7b", 6'738'415'616},
    {"llama-3-8b", 8'030'261'248},
    {"mistral-7b", 7'241'732'096},
    {"qwen2.5-7b", 7'615'616'512},
    {"qwen3-0.6b", 596'049'920},
    {"gemma-2b", 2'506'172'416},
    {"phi-2", 2'779'683'840},
    {"mixtral-8x7b", 46'702'792'704},
};

class Configurations : public testing::TestWithParam<Published> {};

TEST_P(Configurations, HaveThePublishedParameters) {
  const std::string path = std::string(STINT_SOURCE "/tests/configs/") + GetParam().name + ".json";
  const auto text = read_file(path);
  ASSERT_TRUE(text.ok());
  const auto shape = read_model_config(*parse_json(*text, path), path);
  ASSERT_TRUE(shape.ok()) << shape.error().message;
  EXPECT_EQ(parameters(*shape).total, GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(HuggingFace, Configurations, testing::ValuesIn(kPublished));

std::string error_of(const char* text) {
  const auto shape = read_model_config(*parse_json(text, "config.json"), "config.json");
  return shape.ok() ? "" : shape.error().message;
}

TEST(ModelConfig, NamesTheArchitectureThatIsNotKnown) {
  const std::string error = error_of(R"({"model_type": "rwkv"})");
  EXPECT_NE(error.find("'rwkv' is not known"), std::string::npos) << error;
  EXPECT_NE(error.find("llama"), std::string::npos) << error;
}

TEST(ModelConfig, NamesTheNumberThatIsMissing) {
  const std::string error = error_of(R"({"model_type": "gpt2", "n_embd": 768})");
  EXPECT_NE(error.find("n_positions is required"), std::string::npos) << error;
}

TEST(ModelConfig, RefusesNumbersThatAreNone) {
  EXPECT_NE(error_of(R"({"model_type": "gpt2", "n_embd": "wide"})").find("n_embd must be"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"model_type": "gpt2", "n_embd": -1})").find("n_embd must be"),
            std::string::npos);
  EXPECT_NE(error_of(R"([1])").find("is an object"), std::string::npos);
  EXPECT_NE(error_of(R"({})").find("model_type is required"), std::string::npos);
}

TEST(ModelConfig, RefusesHeadsThatDoNotDivideTheWidth) {
  EXPECT_NE(error_of(R"({"model_type": "gpt2", "n_embd": 10, "n_head": 3, "n_layer": 1,
                         "n_positions": 8, "vocab_size": 9})")
                .find("cannot be split"),
            std::string::npos);
}

}  // namespace
}  // namespace stint
