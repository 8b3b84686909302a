// Requests to a receiver: every request that is read is written back to the same line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "checkpoint/receiver_protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::string_view line = text.substr(0, text.find('\n'));
  const auto request = stint::parse_request(line);
  if (request.ok()) {
    CHECK(stint::to_line(*request) == std::string(line) + "\n");
  } else {
    CHECK(!request.error().message.empty());
  }
  const auto here = stint::parse_here(line);
  if (here.ok()) CHECK(stint::to_line(*here) == std::string(line) + "\n");
  return 0;
}
