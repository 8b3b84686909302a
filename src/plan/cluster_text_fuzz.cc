// Cluster text: every text that is read must be written and read back to the same cluster.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "plan/layout.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto cluster = stint::parse_cluster(text);
  if (!cluster.ok()) {
    CHECK(!cluster.error().message.empty());
    return 0;
  }
  const auto back = stint::parse_cluster(stint::to_text(*cluster));
  CHECK(back.ok());
  CHECK(*back == *cluster);
  return 0;
}
