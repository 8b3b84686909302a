// Traces and texts of nccl-tests. The first byte chooses the size of the chunks, so that the same
// bytes cut in other places must give the same events; 'n' reads the rest as nccl-tests' text.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "measure/tables/nccl_text.h"
#include "measure/trace/gzip_stream.h"
#include "measure/trace/trace_profile.h"
#include "measure/trace/trace_scanner.h"

namespace {

struct Read {
  bool ok = false;
  std::vector<std::string> events;
};

Read read(std::string_view bytes, std::size_t chunk) {
  Read result;
  stint::TraceScanner scanner("fuzz", [&](std::string_view event) {
    result.events.emplace_back(event);
    return stint::Status();
  });
  stint::GzipStream stream("fuzz", [&](std::string_view text) { return scanner.push(text); });
  for (std::size_t i = 0; i < bytes.size(); i += chunk) {
    if (!stream.push(std::string(bytes.substr(i, chunk))).ok()) return result;
  }
  result.ok = stream.finish().ok() && scanner.finish().ok();
  return result;
}

void try_nccl(std::string_view text) {
  const auto table = stint::read_nccl_text(text, "fuzz", "");
  if (!table.ok()) {
    CHECK(!table.error().message.empty());
    return;
  }
  CHECK(!table->rows.empty());
  for (const stint::NcclRow& it : table->rows) {
    CHECK(it.row.workers >= 1);
    CHECK(*it.row.time > stint::Seconds{});
  }
}

void try_trace(std::string_view bytes, std::size_t chunk) {
  const Read whole = read(bytes, bytes.size() + 1);
  const Read cut = read(bytes, chunk);
  CHECK(whole.ok == cut.ok);
  // How much zlib gives before it finds damage depends on the chunks.
  const bool packed = bytes.starts_with("\x1F\x8B");
  CHECK((packed && !whole.ok) || whole.events == cut.events);

  stint::TraceEventParser parser;
  stint::TraceMarks marks;
  for (const std::string& text : whole.events) {
    const auto event = parser.event(text);
    if (event.ok()) marks.add(*event);
  }
  stint::RankTrace rank{.source = "fuzz", .found = stint::find_iterations(marks)};
  const auto profile = stint::profile_traces({rank}, {.name = "fuzz"});
  if (!profile.ok()) {
    CHECK(!profile.error().message.empty());
    return;
  }
  CHECK(!profile->job || stint::validate(*profile->job).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  if (bytes[0] == 'n') {
    try_nccl(rest);
  } else {
    try_trace(rest, bytes[0] % 16U + 1U);
  }
  return 0;
}
