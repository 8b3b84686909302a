#include "plan/parallel_layout.h"

#include <fmt/format.h>
#include <optional>

#include "base/check.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr std::string_view kExample = "'dp16 tp4 pp2 zero1 mb2 recompute:full'";
constexpr int kZeroMax = 3;

/// A word that is a name and a number, and where the number goes.
struct Degree {
  std::string_view name;
  int ParallelLayout::*member;
  int min = 1;
  int max = kDegreeMax;
};

constexpr Degree kDegrees[] = {
    {"dp", &ParallelLayout::data},
    {"tp", &ParallelLayout::tensor},
    {"pp", &ParallelLayout::pipeline},
    {"vp", &ParallelLayout::virtual_stages},
    {"cp", &ParallelLayout::context},
    {"ep", &ParallelLayout::expert},
    {"zero", &ParallelLayout::zero, 0, kZeroMax},
    {"mb", &ParallelLayout::micro_batch},
};

constexpr std::string_view kRecompute = "recompute:";

Error word_error(std::string_view word, std::string_view why) {
  return bad_usage(fmt::format("'{}' is no word of a layout: {}; write for example {}",
                               printable(word), why, kExample));
}

/// Sets what a word with a number says; nothing when it has another form.
std::optional<Status> take_degree(ParallelLayout& layout, std::string_view word) {
  for (const Degree& degree : kDegrees) {
    if (!word.starts_with(degree.name)) continue;
    const std::string_view rest = word.substr(degree.name.size());
    if (rest.empty() || !is_digit(rest[0])) continue;
    const auto value = parse_int(rest);
    if (!value || *value < degree.min || *value > degree.max) {
      return word_error(word, fmt::format("{} takes a number from {} to {}", degree.name,
                                          degree.min, degree.max));
    }
    layout.*degree.member = *value;
    return Status{};
  }
  return std::nullopt;
}

Status take_word(ParallelLayout& layout, std::string_view word) {
  if (const auto taken = take_degree(layout, word)) return *taken;
  if (word == "sp") {
    layout.sequence = true;
    return {};
  }
  if (word == "hsdp") {
    layout.hybrid = true;
    return {};
  }
  if (word.starts_with(kRecompute)) {
    for (const auto& [value, name] : names_of(Recompute{})) {
      if (word.substr(kRecompute.size()) != name) continue;
      layout.recompute = value;
      return {};
    }
    return word_error(word, "recompute is none, selective or full");
  }
  return word_error(word,
                    "the words are dp, tp, pp, vp, cp, ep, zero and mb with a number, sp, "
                    "hsdp, and recompute:none, :selective or :full");
}

bool divides(std::int64_t part, std::int64_t whole) { return whole % part == 0; }

}  // namespace

std::int64_t workers(const ParallelLayout& layout) {
  return std::int64_t{layout.data} * layout.tensor * layout.pipeline * layout.context;
}

Result<ParallelLayout> parse_parallel_layout(std::string_view text) {
  ParallelLayout layout;
  std::vector<std::string> seen;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    const std::string name = word.substr(0, word.find_first_of("0123456789:"));
    for (const std::string& other : seen) {
      if (other == name) return word_error(word, fmt::format("{} is there twice", name));
    }
    seen.push_back(name);
    if (const Status taken = take_word(layout, to_lower(word)); !taken.ok()) return taken.error();
  }
  if (seen.empty())
    return bad_usage(fmt::format("a layout is empty; write for example {}", kExample));
  if (workers(layout) > kDegreeMax) {
    return bad_usage(fmt::format("the layout '{}' has {} workers; the maximum is {}",
                                 printable(text), workers(layout), kDegreeMax));
  }
  return layout;
}

std::string to_text(const ParallelLayout& layout) {
  std::vector<std::string> words = {fmt::format("dp{}", layout.data)};
  const auto add = [&](std::string_view name, int value, int usual) {
    if (value != usual) words.push_back(fmt::format("{}{}", name, value));
  };
  add("tp", layout.tensor, 1);
  if (layout.sequence) words.emplace_back("sp");
  add("cp", layout.context, 1);
  add("pp", layout.pipeline, 1);
  add("vp", layout.virtual_stages, 1);
  add("ep", layout.expert, 1);
  add("zero", layout.zero, 0);
  if (layout.hybrid) words.emplace_back("hsdp");
  words.push_back(fmt::format("mb{}", layout.micro_batch));
  if (layout.recompute != Recompute::kNone) {
    words.push_back(fmt::format("{}{}", kRecompute, name_of(layout.recompute)));
  }
  return join(words, " ");
}

std::string problem(const ParallelLayout& it, const LayoutBounds& bounds) {
  if (workers(it) != bounds.workers) {
    return fmt::format(
        "the degrees of the layout '{}' multiply to {}, but the cluster has {} workers",
        to_text(it), workers(it), bounds.workers);
  }
  const std::int64_t stages = std::int64_t{it.pipeline} * it.virtual_stages;
  if (stages > bounds.layers) {
    return fmt::format("{} stages are more than the {} layers of the model; lower pp or vp", stages,
                       bounds.layers);
  }
  if (it.virtual_stages > 1 && it.pipeline == 1) {
    return "virtual stages need a pipeline: raise pp, or leave vp out";
  }
  if (it.virtual_stages > 1 && !divides(stages, bounds.layers)) {
    return fmt::format("{} virtual stages do not divide the {} layers of the model", stages,
                       bounds.layers);
  }
  if (it.tensor > bounds.heads || !divides(it.tensor, bounds.heads)) {
    return fmt::format("the tensor degree {} does not divide the {} attention heads of the model",
                       it.tensor, bounds.heads);
  }
  if (it.sequence && it.tensor == 1)
    return "sequence parallelism (sp) needs a tensor degree above 1";
  if (it.hybrid && it.zero == 0)
    return "hybrid sharding (hsdp) needs a ZeRO stage, as in 'zero3 hsdp'";
  if (it.expert > bounds.experts) {
    return fmt::format("the expert degree {} is above the {} experts of the model", it.expert,
                       bounds.experts);
  }
  const std::int64_t step = std::int64_t{it.data} * it.micro_batch;
  if (bounds.global_batch > 0 && !divides(step, bounds.global_batch)) {
    return fmt::format("dp × mb = {} does not divide the global batch of {}", step,
                       bounds.global_batch);
  }
  return "";
}

}  // namespace stint
