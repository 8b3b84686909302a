#include "catalog/gpu_spelling.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "base/text.h"

namespace stint {
namespace {

/// Words that vendors put around the name of a model.
constexpr std::array<std::string_view, 27> kDecoration{
    "nvidia", "tesla",       "geforce", "quadro", "amd",     "instinct",   "radeon",
    "intel",  "habana",      "gpu",     "tensor", "core",    "blackwell",  "hopper",
    "grace",  "ampere",      "ai",      "r",      "tm",      "cts",        "graphics",
    "rx",     "accelerator", "max",     "q",      "edition", "workstation"};

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : to_lower(name) + " ") {
    if (is_letter(c) || is_digit(c)) {
      word += c;
      continue;
    }
    if (!word.empty()) words.push_back(word);
    word.clear();
  }
  return words;
}

/// "80gb" as 80.
std::optional<int> gigabytes(std::string_view word) {
  if (!word.ends_with("gb")) return std::nullopt;
  return parse_int(word.substr(0, word.size() - 2));
}

/// "sxm4" is the form "sxm"; high-bandwidth memory in a name means a module too.
std::string form_of(std::string_view word) {
  if (word.starts_with("sxm") || word.starts_with("hbm") || word == "oam") return "sxm";
  if (word.starts_with("pcie") || word == "pci") return "pcie";
  if (word == "nvl") return "nvl";
  return "";
}

bool is_decoration(std::string_view word) {
  return std::find(kDecoration.begin(), kDecoration.end(), word) != kDecoration.end();
}

}  // namespace

GpuSpelling read_gpu_spelling(std::string_view name) {
  GpuSpelling spelling;
  for (const std::string& word : words_of(name)) {
    if (const auto memory = gigabytes(word)) {
      spelling.memory_gb = memory;
    } else if (const std::string form = form_of(word); !form.empty()) {
      if (spelling.form.empty()) spelling.form = form;
    } else if (!is_decoration(word)) {
      spelling.model += word;
    }
  }
  // "RTX A5000" is sold as "A5000" too.
  const std::string& model = spelling.model;
  const bool professional = model.size() > 4 && model.starts_with("rtxa") && is_digit(model[4]);
  if (professional) spelling.model.erase(0, 3);
  return spelling;
}

const Gpu* find_spelled_gpu(const Catalog& catalog, std::string_view name) {
  const GpuSpelling wanted = read_gpu_spelling(name);
  const Gpu* best = nullptr;
  std::tuple<bool, bool, bool, Bytes> best_rank;
  for (const Gpu& gpu : catalog.gpus) {
    const GpuSpelling its = read_gpu_spelling(gpu.name);
    if (wanted.model.empty() || its.model != wanted.model) continue;
    constexpr double kSameMemory = 0.08;  // Of a name and of a data sheet, in GB or in GiB.
    const bool same_form = wanted.form.empty() || its.form == wanted.form;
    const bool same_memory =
        !wanted.memory_gb ||
        (gpu.memory && std::abs(gpu.memory->in(kGB) / *wanted.memory_gb - 1) <= kSameMemory);
    const std::tuple rank{same_form, same_memory, gpu.link_bandwidth.has_value(),
                          gpu.memory.value_or(Bytes{})};
    if (best != nullptr && rank <= best_rank) continue;
    best = &gpu;
    best_rank = rank;
  }
  return best;
}

}  // namespace stint
