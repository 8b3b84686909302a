// Command lines, a word a line: each names a verb with its flags, asks for help, or is refused with
// a reason. No verb runs.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "cli/verbs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto parsed = stint::cli::parse(stint::cli::verbs(), stint::split(text, '\n'));
  if (!parsed.ok()) {
    CHECK(parsed.error().kind == stint::ErrorKind::kUsage);
    CHECK(!parsed.error().message.empty());
    return 0;
  }
  if (parsed->verb == nullptr) {
    CHECK(!stint::cli::help_text(stint::cli::verbs(), parsed->topic).empty());
    return 0;
  }
  // A flag that was read holds what its description allows, and no other flag was.
  const auto options = stint::cli::options_of(*parsed->verb);
  std::size_t known = 0;
  for (const stint::cli::OptionSpec& option : options) {
    if (!parsed->invocation.has(option.name)) continue;
    ++known;
    CHECK(parsed->invocation.list(option.name).empty() == option.value.empty());
    const auto count = stint::cli::count_of(parsed->invocation, option.name);
    if (count.ok() && *count) CHECK(**count >= 1);
  }
  CHECK(known == parsed->invocation.options.size());
  return 0;
}
