// Unit text: every text that is read must be written and read back to the same value.
#include "base/unit_text.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/date.h"

namespace {

template <class Q>
void try_quantity(std::string_view text) {
  const auto value = stint::parse_quantity<Q>(text);
  if (!value.ok()) {
    CHECK(!value.error().message.empty());
    return;
  }
  const auto back = stint::parse_quantity<Q>(stint::to_text(*value));
  CHECK(back.ok());
  CHECK(*back == *value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try_quantity<stint::Seconds>(text);
  try_quantity<stint::Bytes>(text);
  try_quantity<stint::BytesPerSecond>(text);
  try_quantity<stint::Flops>(text);
  try_quantity<stint::FlopsPerSecond>(text);
  try_quantity<stint::Dollars>(text);
  try_quantity<stint::DollarsPerSecond>(text);
  try_quantity<stint::DollarsPerByte>(text);
  const auto date = stint::parse_date(text);
  if (date.ok()) CHECK(stint::to_text(*date) == text);
  return 0;
}
