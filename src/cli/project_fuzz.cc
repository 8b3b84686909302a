// Project files: each is refused with its name and a reason, or fills flags as their descriptions
// allow.
#include "cli/project.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cli/verbs.h"

namespace {

using stint::cli::Invocation;
using stint::cli::Verb;

void check_refusal(const stint::Error& error) {
  CHECK(error.kind == stint::ErrorKind::kBadInput);
  CHECK(error.message.starts_with("stint.yaml"));
}

void check_filled(const Verb& verb, const Invocation& invocation) {
  CHECK(invocation.project.keys.size() >= invocation.project.places.size());
  for (const auto& [flag, place] : invocation.project.places) {
    CHECK(invocation.has(flag));
    CHECK(place.line >= 1);
    CHECK(place.column >= 1);
  }
  CHECK(invocation.project.command == !invocation.arguments.empty());
  CHECK(verb.project);
  CHECK(!invocation.has("--yes"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto project = stint::parse_project(text, "stint.yaml");
  if (!project.ok()) {
    check_refusal(project.error());
    return 0;
  }
  for (const Verb& verb : stint::cli::verbs()) {
    if (!verb.project) continue;
    Invocation invocation;
    const stint::Status status =
        stint::cli::apply_project(*project, stint::cli::verbs(), verb, invocation);
    if (status.ok()) {
      check_filled(verb, invocation);
    } else {
      check_refusal(status.error());
    }
  }
  return 0;
}
