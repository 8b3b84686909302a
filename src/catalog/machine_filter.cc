#include "catalog/machine_filter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <set>

#include "base/text.h"
#include "catalog/gpu_spelling.h"
#include "catalog/lookup.h"

namespace stint {
namespace {

constexpr std::size_t kSuggestions = 3;

bool is_pattern(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos;
}

/// `word` begins with `start`, and a digit follows.
bool is_model(std::string_view word, std::string_view start) {
  return word.size() > start.size() && word.starts_with(start) && is_digit(word[start.size()]);
}

/// The words of a name in lower case: "gaudi", "hl", "205".
std::vector<std::string> words_of_name(std::string_view name) {
  std::string spaced = to_lower(name);
  for (char& c : spaced) {
    if (c == '-' || c == '_') c = ' ';
  }
  return split(spaced, ' ');
}

/// Accelerators that CUDA does not drive, by a word of their name. Names, not figures: vendors call
/// their products so.
std::optional<std::string> other_software(std::string_view word) {
  struct Line {
    std::string_view start;
    const char* software;
  };
  static constexpr std::array<Line, 8> kLines{{{"trainium", "Neuron"},
                                               {"inferentia", "Neuron"},
                                               {"gaudi", "Gaudi"},
                                               {"habana", "Gaudi"},
                                               {"tpu", "TPU"},
                                               {"radeon", "ROCm"},
                                               {"instinct", "ROCm"},
                                               {"qualcomm", "Cloud AI"}}};
  for (const Line& line : kLines) {
    if (word.starts_with(line.start)) return line.software;
  }
  if (is_model(word, "mi")) return "ROCm";
  return std::nullopt;
}

/// GH200 and GB200 are boards with an ARM processor; T4G is the T4 of Graviton hosts.
bool has_arm_host(std::string_view accelerator) {
  const std::vector<std::string> words = words_of_name(accelerator);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "t4g" || is_model(word, "gh") || is_model(word, "gb");
  });
}

/// Azure sizes are also called without "Standard_".
bool is_called(const VmType& type, std::string_view wanted) {
  constexpr std::string_view kAzure = "Standard_";
  std::vector<std::string> names = {type.name, type.provider + "/" + type.name};
  if (type.name.starts_with(kAzure)) {
    names.push_back(type.name.substr(kAzure.size()));
    names.push_back(type.provider + "/" + names.back());
  }
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return matches_pattern(name, wanted); });
}

/// Whether one of the names or patterns is that of a machine, as `means` says.
template <class Means>
bool any_means(const std::vector<std::string>& patterns, Means means) {
  return std::any_of(patterns.begin(), patterns.end(), means);
}

bool means_processor(std::string_view wanted, std::string_view processor) {
  const std::string lower = to_lower(wanted);
  const bool amd = lower == "x86_64" || lower == "x86-64" || lower == "x86";
  const bool arm = lower == "aarch64" || lower == "arm";
  return matches_pattern(processor, amd ? kAmd64 : arm ? kArm64 : wanted);
}

/// What a catalogue lacks: a kind of thing, a name, and the providers that were meant.
struct Missing {
  const char* what;
  std::string_view wrong;
  const std::vector<std::string>& providers;
};

/// The names that begin as `wrong` does, as far as any do.
std::vector<std::string> names_beginning_as(std::string_view wrong,
                                            const std::vector<std::string>& names) {
  for (std::size_t length = wrong.size(); length >= 1; --length) {
    const std::string start = to_lower(wrong.substr(0, length));
    std::set<std::string> alike;
    for (const std::string& name : names) {
      if (to_lower(name).starts_with(start)) alike.insert(name);
    }
    if (alike.empty()) continue;
    std::vector<std::string> few(alike.begin(), alike.end());
    few.resize(std::min(few.size(), kSuggestions));
    return few;
  }
  return {};
}

Error nothing_called(const Missing& missing, const std::vector<std::string>& names) {
  std::string literal(missing.wrong);
  std::erase_if(literal, [](char c) { return c == '*' || c == '?'; });
  while (literal.ends_with('.') || literal.ends_with('-')) literal.pop_back();
  std::vector<std::string> nearest = nearest_names(literal, names, kSuggestions);
  if (nearest.empty()) nearest = names_beginning_as(literal, names);
  std::string help = did_you_mean(nearest);
  if (help.empty()) help = " See 'stint catalog list'.";
  const std::string whose =
      missing.providers.empty() ? "" : " of " + join(missing.providers, " or ");
  return bad_usage(fmt::format("the catalogue has no {} '{}'{}.{}", missing.what,
                               printable(missing.wrong), whose, help));
}

std::vector<std::string> names_of_types(const std::vector<const VmType*>& types) {
  std::vector<std::string> names;
  for (const VmType* type : types) names.push_back(type->name);
  return names;
}

std::vector<std::string> names_of_gpus(const std::vector<const VmType*>& types) {
  std::set<std::string> names;
  for (const VmType* type : types) {
    names.insert(type->accelerator->name);
    if (type->accelerator->gpu) names.insert(*type->accelerator->gpu);
  }
  return {names.begin(), names.end()};
}

/// A name that states form or memory means what has them; see read_gpu_spelling.
bool same_spelling(const Catalog& catalog, const VmType& type, const GpuSpelling& wanted) {
  const Accelerator& accelerator = *type.accelerator;
  GpuSpelling its = read_gpu_spelling(accelerator.gpu.value_or(accelerator.name));
  if (its.model != wanted.model) its = read_gpu_spelling(accelerator.name);
  if (its.model != wanted.model) return false;
  if (!wanted.form.empty() && !its.form.empty() && its.form != wanted.form) return false;
  if (!wanted.memory_gb) return true;
  constexpr double kSameMemory = 0.08;  // Of a name and of a data sheet, in GB or in GiB.
  const auto memory = accelerator_memory(catalog, type);
  if (!memory) return its.memory_gb == wanted.memory_gb;
  return std::abs(memory->in(kGB) / *wanted.memory_gb - 1) <= kSameMemory;
}

}  // namespace

bool matches_pattern(std::string_view text, std::string_view pattern) {
  const std::string have = to_lower(text);
  const std::string want = to_lower(pattern);
  // Greedy, with a way back to the last '*' only: earlier ones never help.
  std::size_t at = 0;
  std::size_t in = 0;
  std::size_t star = std::string::npos;
  std::size_t resumed = 0;
  while (at < have.size()) {
    if (in < want.size() && want[in] == '*') {
      star = in++;
      resumed = at;
    } else if (in < want.size() && (want[in] == '?' || want[in] == have[at])) {
      ++in;
      ++at;
    } else if (star != std::string::npos) {
      in = star + 1;
      at = ++resumed;
    } else {
      return false;
    }
  }
  while (in < want.size() && want[in] == '*') ++in;
  return in == want.size();
}

std::string processor_of(const VmType& type) {
  if (type.architecture) return to_lower(*type.architecture);
  return type.accelerator && has_arm_host(type.accelerator->name) ? kArm64 : kAmd64;
}

std::string software_of(const VmType& type) {
  if (type.accelerator) {
    for (const std::string& word : words_of_name(type.accelerator->name)) {
      if (const auto software = other_software(word)) return *software;
    }
  }
  return "CUDA";
}

bool is_usual(const VmType& type) {
  return processor_of(type) == kAmd64 && software_of(type) == "CUDA";
}

bool has_gpu(const Catalog& catalog, const VmType& type, std::string_view wanted) {
  if (!type.accelerator) return false;
  const Accelerator& accelerator = *type.accelerator;
  if (is_pattern(wanted)) {
    return matches_pattern(accelerator.name, wanted) ||
           (accelerator.gpu && matches_pattern(*accelerator.gpu, wanted));
  }
  if (has_gpu(type, wanted)) return true;
  const GpuSpelling spelling = read_gpu_spelling(wanted);
  return !spelling.model.empty() && same_spelling(catalog, type, spelling);
}

Status check_filter(const Catalog& catalog, const MachineFilter& filter,
                    const std::vector<std::string>& providers) {
  std::vector<const VmType*> all;
  std::vector<const VmType*> accelerated;
  for (const VmType& type : catalog.types) {
    if (!means_provider(providers, type.provider)) continue;
    all.push_back(&type);
    if (type.accelerator) accelerated.push_back(&type);
  }
  const auto some = [](const std::vector<const VmType*>& types, auto named) {
    return std::any_of(types.begin(), types.end(), named);
  };
  for (const std::string& wanted : filter.gpus) {
    const bool known = some(accelerated, [&](auto* it) { return has_gpu(catalog, *it, wanted); });
    if (known) continue;
    return nothing_called({"accelerator", wanted, providers}, names_of_gpus(accelerated));
  }
  for (const std::string& wanted : filter.types) {
    const bool known = some(all, [&](auto* it) { return is_called(*it, wanted); });
    if (!known) return nothing_called({"VM type", wanted, providers}, names_of_types(all));
  }
  for (const std::string& wanted : filter.excluded) {
    const bool known = some(
        all, [&](auto* it) { return is_called(*it, wanted) || has_gpu(catalog, *it, wanted); });
    if (known) continue;
    std::vector<std::string> names = names_of_types(all);
    for (std::string& gpu : names_of_gpus(accelerated)) names.push_back(std::move(gpu));
    return nothing_called({"VM type or accelerator", wanted, providers}, names);
  }
  for (const std::string& wanted : filter.processors) {
    if (means_processor(wanted, kAmd64) || means_processor(wanted, kArm64)) continue;
    return bad_usage(
        fmt::format("--arch: '{}' is no processor architecture of the catalogue: write amd64, "
                    "arm64 or both",
                    printable(wanted)));
  }
  return {};
}

MachineChoice::MachineChoice(const Catalog& catalog, const MachineFilter& filter)
    : catalog_(catalog), filter_(filter) {
  const auto unusual_only = [&](auto means) {
    return std::none_of(catalog.types.begin(), catalog.types.end(), [&](const VmType& type) {
      return type.accelerator && is_usual(type) && means(type);
    });
  };
  for (const std::string& gpu : filter.gpus) {
    if (unusual_only([&](const VmType& type) { return has_gpu(catalog, type, gpu); })) {
      unusual_gpus_.push_back(gpu);
    }
  }
  for (const std::string& wanted : filter.types) {
    if (unusual_only([&](const VmType& type) { return is_called(type, wanted); })) {
      unusual_types_.push_back(wanted);
    }
  }
}

bool MachineChoice::asked_for(const VmType& type) const {
  return filter_.unusual ||
         any_means(unusual_gpus_, [&](const auto& gpu) { return has_gpu(catalog_, type, gpu); }) ||
         any_means(unusual_types_, [&](const auto& wanted) { return is_called(type, wanted); }) ||
         any_means(filter_.asked, [&](const auto& name) { return is_called(type, name); });
}

std::string MachineChoice::reason_against(const VmType& type) const {
  const auto by_gpu = [&](const std::string& gpu) { return has_gpu(catalog_, type, gpu); };
  const auto by_name = [&](const std::string& wanted) { return is_called(type, wanted); };
  if (any_means(filter_.excluded, by_name) || any_means(filter_.excluded, by_gpu)) {
    return "named by --exclude";
  }
  if (!filter_.gpus.empty() && !any_means(filter_.gpus, by_gpu)) return "not named by --gpu";
  if (!filter_.types.empty() && !any_means(filter_.types, by_name)) return "not named by --types";
  const std::string processor = processor_of(type);
  const bool processor_asked = any_means(filter_.processors, [&](const std::string& wanted) {
    return means_processor(wanted, processor);
  });
  if (!filter_.processors.empty() && !processor_asked) return "not named by --arch";
  if (is_usual(type) || asked_for(type)) return "";
  const std::string software = software_of(type);
  if (software != "CUDA") return fmt::format("needs {}, not CUDA (--gpu adds it)", software);
  if (processor_asked) return "";
  return fmt::format("{} processor (--arch adds it)", processor);
}

bool MachineChoice::may_serve(const VmType& type) const {
  if (any_means(filter_.excluded, [&](const auto& wanted) { return is_called(type, wanted); })) {
    return false;
  }
  const std::string processor = processor_of(type);
  if (filter_.processors.empty()) return filter_.unusual || processor == kAmd64;
  return any_means(filter_.processors,
                   [&](const auto& wanted) { return means_processor(wanted, processor); });
}

}  // namespace stint
