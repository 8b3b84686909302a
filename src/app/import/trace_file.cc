#include "app/import/trace_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <vector>

#include "measure/trace/gzip_stream.h"
#include "measure/trace/trace_scanner.h"

namespace stint {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Error unreadable_file(const std::string& path, const char* advice) {
  return bad_input(fmt::format("cannot read {}: {}{}", path, std::strerror(errno), advice));
}

Status push_file(const std::string& path, GzipStream& stream) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  if (!file) return unreadable_file(path, "; check the path");
  std::setvbuf(file.get(), nullptr, _IONBF, 0);
  std::vector<char> chunk(kChunkBytes);
  while (true) {
    const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), file.get());
    if (count == 0 && std::ferror(file.get()) != 0) return unreadable_file(path, "");
    if (count == 0) return stream.finish();
    const Status status = stream.push({chunk.data(), count});
    if (!status.ok()) return status;
  }
}

std::string member(const TraceScanner& scanner, const std::string& name) {
  const auto found = scanner.members().find(name);
  return found == scanner.members().end() ? std::string() : found->second;
}

}  // namespace

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

}  // namespace stint
