#include "app/import/import_trace.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "app/import/trace_file.h"
#include "base/file.h"
#include "base/text.h"
#include "load/catalog_cases.h"

namespace stint {
namespace {

/// "NVIDIA A100-SXM4-40GB" in lower case as "nvidia", "a100", "sxm4" and "40gb".
std::vector<std::string> words_of(std::string_view name) {
  std::string text = to_lower(name);
  std::replace(text.begin(), text.end(), ' ', '-');
  return split(text, '-');
}

/// How many words `name` has when all of them stand in `device`; the form factor without its
/// generation counts too, as "sxm" for "sxm4".
std::size_t matched_words(const std::vector<std::string>& device, const std::string& name) {
  const std::vector<std::string> words = words_of(name);
  for (const std::string& word : words) {
    const bool stands = std::any_of(device.begin(), device.end(), [&](const std::string& it) {
      return it == word || (word == "sxm" && it.starts_with(word));
    });
    if (!stands) return 0;
  }
  return words.size();
}

/// The file's name up to its first dot.
std::string stem_of(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string stem = name.substr(0, name.find('.'));
  return stem.empty() ? "job" : stem;
}

/// What must be said before a profile can be written.
Error incomplete(const TraceProfile& profile) {
  std::vector<std::string> flags;
  if (!profile.gradients) flags.emplace_back("--gradients '100 MB'");
  if (!profile.batch_per_worker) flags.emplace_back("--batch 32");
  return bad_input(
      fmt::format("the traces do not tell all that a job profile needs, so nothing was written; "
                  "add {}, with the job's own figures",
                  join(flags, " and ")));
}

/// Calls the GPU as the catalogue does, if it can be told.
Status name_device(const Environment& environment, TraceHints& hints,
                   const std::vector<RankTrace>& ranks) {
  const std::string& told = ranks.front().header.device;
  if (!hints.device.empty() || told.empty()) return {};
  const auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  std::vector<std::string> names;
  for (const Gpu& gpu : catalog->noun.gpus) names.push_back(gpu.name);
  const bool on_gpu = std::any_of(ranks.begin(), ranks.end(), [](const RankTrace& rank) {
    return !rank.found.iterations.empty() && rank.found.iterations.front().on_gpu;
  });
  if (on_gpu) hints.device = gpu_called(told, names);
  return {};
}

}  // namespace

std::string gpu_called(std::string_view device, const std::vector<std::string>& names) {
  const std::vector<std::string> words = words_of(device);
  std::size_t most = 0;
  std::vector<std::string> best;
  for (const std::string& name : names) {
    const std::size_t matched = matched_words(words, name);
    if (matched == 0 || matched < most) continue;
    if (matched > most) best.clear();
    most = matched;
    best.push_back(name);
  }
  return best.size() == 1 ? best.front() : "";
}

Result<TraceProfile> import_trace(const Environment& environment,
                                  const TraceImportRequest& request) {
  if (request.files.empty()) return bad_usage("give at least one trace");
  std::vector<RankTrace> ranks;
  for (const std::string& file : request.files) {
    auto trace = read_trace_file(file);
    if (!trace.ok()) return trace.error();
    ranks.push_back(std::move(*trace));
  }
  TraceHints hints = request.hints;
  if (hints.name.empty()) hints.name = stem_of(request.files.front());
  const Status named = name_device(environment, hints, ranks);
  if (!named.ok()) return named.error();
  auto profile = profile_traces(ranks, hints);
  if (!profile.ok()) return profile.error();
  if (profile->on_gpu && hints.device.empty()) {
    profile->notes.push_back(
        fmt::format("the catalogue knows no GPU called '{}'; --device gives it its name there",
                    profile->device));
  }
  if (request.out.empty()) return profile;
  if (!profile->job) return incomplete(*profile);
  const Status written = write_file(request.out, write_job(*profile->job));
  if (!written.ok()) return written.error();
  return profile;
}

}  // namespace stint
