#include "measure/sharded/named_shapes.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace stint {
namespace {

struct NamedShape {
  std::string_view word;  // In the plain name; the first that matches counts.
  TableShape shape;
};

constexpr double kLlama3Vocabulary = 128256;
constexpr double kNemotronVocabulary = 256000;
constexpr double kQwenVocabulary = 151936;
constexpr double kMegatronVocabulary = 51200;

// By the models' own configurations on Hugging Face; GPT-3 by Brown et al. 2020, its 5B and 20B and
// Nemotron by the recipes of NVIDIA's NeMo; OPT by Zhang et al. 2022; ViT-Base, BERT-Large and
// GPT-2 XL.
constexpr NamedShape kShapes[] = {
    {"llama31405b", {126, 16384, 128, 8, 0, 53248, kLlama3Vocabulary, 1, 1, true, false}},
    {"llama3170b", {80, 8192, 64, 8, 0, 28672, kLlama3Vocabulary, 1, 1, true, false}},
    {"llama318b", {32, 4096, 32, 8, 0, 14336, kLlama3Vocabulary, 1, 1, true, false}},
    {"llama370b", {80, 8192, 64, 8, 0, 28672, kLlama3Vocabulary, 1, 1, true, false}},
    {"llama38b", {32, 4096, 32, 8, 0, 14336, kLlama3Vocabulary, 1, 1, true, false}},
    {"llama27b", {32, 4096, 32, 32, 0, 11008, 32000, 1, 1, true, false}},
    {"llama213b", {40, 5120, 40, 40, 0, 13824, 32000, 1, 1, true, false}},
    {"llama234b", {48, 8192, 64, 8, 0, 22016, 32000, 1, 1, true, false}},
    {"llama270b", {80, 8192, 64, 8, 0, 28672, 32000, 1, 1, true, false}},
    {"llama30", {60, 6656, 52, 52, 0, 17920, 32000, 1, 1, true, false}},
    {"llama65", {80, 8192, 64, 64, 0, 22016, 32000, 1, 1, true, false}},
    {"llama70b", {80, 8192, 64, 8, 0, 28672, 32000, 1, 1, true, false}},
    {"llama7", {32, 4096, 32, 32, 0, 11008, 32000, 1, 1, true, false}},
    {"gpt3175b", {96, 12288, 96, 96, 0, 49152, kMegatronVocabulary}},
    {"gpt175b", {96, 12288, 96, 96, 0, 49152, kMegatronVocabulary}},
    {"gpt320b", {44, 6144, 48, 48, 0, 24576, kMegatronVocabulary}},
    {"gpt35b", {24, 4096, 32, 32, 0, 16384, kMegatronVocabulary}},
    {"gpt5b", {24, 4096, 32, 32, 0, 16384, kMegatronVocabulary}},
    {"nemotron415b", {32, 6144, 48, 8, 0, 24576, kNemotronVocabulary, 1, 1, false, false}},
    {"nemotron4340b", {96, 18432, 96, 8, 0, 73728, kNemotronVocabulary, 1, 1, false, false}},
    {"nemotron8b", {32, 4096, 32, 32, 0, 16384, kNemotronVocabulary, 1, 1, false, false}},
    {"nemotron22b", {40, 6144, 48, 48, 0, 24576, kNemotronVocabulary, 1, 1, false, false}},
    {"qwen330b", {48, 2048, 32, 4, 128, 768, kQwenVocabulary, 128, 8, true, false}},
    {"qwen3235b", {94, 4096, 64, 4, 128, 1536, kQwenVocabulary, 128, 8, true, false}},
    {"gptoss120b", {36, 2880, 64, 8, 64, 2880, 201088, 128, 4, true, false}},
    {"gptoss20b", {24, 2880, 64, 8, 64, 2880, 201088, 32, 4, true, false}},
    {"mixtral8x3b", {32, 2560, 32, 8, 0, 8960, 32000, 8, 2, true, false}},
    {"mixtral8x7b", {32, 4096, 32, 8, 0, 14336, 32000, 8, 2, true, false}},
    {"mixtral8x22b", {56, 6144, 48, 8, 0, 16384, 32768, 8, 2, true, false}},
    {"gptneo27", {32, 2560, 20, 20, 0, 10240, 50257}},
    {"opt350", {24, 1024, 16, 16, 0, 4096, 50272}},
    {"opt30", {48, 7168, 56, 56, 0, 28672, 50272}},
    {"vit", {12, 768, 12, 12, 0, 3072, 0, 1, 1, false, true, false}},
    {"roberta", {24, 1024, 16, 16, 0, 4096, 50265, 1, 1, false, true, false}},
    {"gpt2", {48, 1600, 25, 25, 0, 6400, 50257}},
    {"bert", {24, 1024, 16, 16, 0, 4096, 30522, 1, 1, false, true, false}},
};

}  // namespace

std::optional<TableShape> named_shape(std::string_view name) {
  std::string plain = to_lower(name);
  std::erase_if(plain, [](char c) { return !is_digit(c) && !(c >= 'a' && c <= 'z'); });
  for (const NamedShape& it : kShapes) {
    if (plain.find(it.word) != std::string::npos) return it.shape;
  }
  return std::nullopt;
}

}  // namespace stint
