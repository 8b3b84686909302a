#pragma once

#include <string>
#include <string_view>

#include "base/check.h"

namespace stint {

/// For fuzzers: a document that is read must be valid, and written and read again it must be the
/// same document.
template <class Read, class Write>
void try_noun(std::string_view text, Read read, Write write) {
  const auto loaded = read(text, "fuzz");
  if (!loaded.ok()) {
    CHECK(!loaded.error().message.empty());
    return;
  }
  if constexpr (requires { validate(loaded->noun); }) CHECK(validate(loaded->noun).ok());
  const std::string once = write(loaded->noun);
  const auto again = read(once, "fuzz");
  CHECK(again.ok());
  CHECK(write(again->noun) == once);
}

}  // namespace stint
