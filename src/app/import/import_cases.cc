#include "app/import/import_cases.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "load/catalog_cases.h"
#include "measure/trace/gzip_stream.h"
#include "measure/trace/trace_scanner.h"

namespace stint {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

Status push_file(const std::string& path, GzipStream& stream) {
  const auto file = open_input(path);
  if (!file.ok()) return file.error();
  std::vector<char> chunk(kChunkBytes);
  while (true) {
    const ssize_t count = ::read(file->get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return bad_input(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    }
    if (count == 0) return stream.finish();
    const Status status = stream.push({chunk.data(), static_cast<std::size_t>(count)});
    if (!status.ok()) return status;
  }
}

std::string member(const TraceScanner& scanner, const std::string& name) {
  const auto found = scanner.members().find(name);
  return found == scanner.members().end() ? std::string() : found->second;
}

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
      fmt::format("the traces lack figures that a job profile needs, so nothing was written; add "
                  "{}, with the job's own figures",
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

Result<NcclTable> import_nccl(const NcclImportRequest& request) {
  if (request.files.empty())
    return bad_usage("FILE is required: at least one output of nccl-tests");
  NcclTable all;
  for (const std::string& file : request.files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    auto table = read_nccl_text(*text, file, request.vm);
    if (!table.ok()) return table.error();
    for (NcclRow& row : table->rows) all.rows.push_back(std::move(row));
    for (std::string& note : table->notes) all.notes.push_back(std::move(note));
    all.wrong += table->wrong;
  }
  if (request.out.empty()) return all;
  const Status written = write_output(request.out, write_collective_table(all.rows));
  if (!written.ok()) return written.error();
  return all;
}

Result<RankTrace> read_trace_file(const std::string& path) {
  const Status available = TraceEventParser::available();
  if (!available.ok()) return available.error();
  TraceEventParser parser;
  TraceMarks marks;
  std::size_t number = 0;
  TraceScanner scanner(path, [&](std::string_view text) -> Status {
    ++number;
    const auto event = parser.event(text);
    if (!event.ok()) {
      return bad_input(fmt::format("{}: event {}: {}", path, number, event.error().message));
    }
    marks.add(*event);
    return {};
  });
  GzipStream stream(path, [&](std::string_view text) { return scanner.push(text); });
  const Status read = push_file(path, stream);
  if (!read.ok()) return read.error();
  const Status whole = scanner.finish();
  if (!whole.ok()) return whole.error();

  const TraceHeader header =
      parser.header(member(scanner, "distributedInfo"), member(scanner, "deviceProperties"));
  return RankTrace{.source = path,
                   .events = scanner.events(),
                   .header = header,
                   .found = find_iterations(marks),
                   .group_size = marks.group_size(),
                   .assumed_types = marks.assumed_types(),
                   .loads_itself = marks.loads_itself(),
                   .dropped = marks.dropped()};
}

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
  if (request.files.empty()) return bad_usage("FILE is required: at least one trace");
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
    profile->notes.push_back(fmt::format(
        "the catalogue has no GPU '{}'; --device gives its name there", profile->device));
  }
  if (request.out.empty()) return profile;
  if (!profile->job) return incomplete(*profile);
  const Status written = write_output(request.out, write_job(*profile->job));
  if (!written.ok()) return written.error();
  return profile;
}

}  // namespace stint
