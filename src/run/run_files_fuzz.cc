// Files of a run; the first byte chooses: its record, one of its plans, its journal, the claims on
// machines that it shares, or the record of a search. What is read is valid, and written and read
// again it is the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "measure/noun_fuzz.h"
#include "provider/emulated/shared_engine.h"
#include "run/run_journal.h"
#include "run/run_record.h"
#include "run/search_record.h"

namespace {

void try_journal(std::string_view text) {
  const auto lines = stint::read_run_journal(text, "fuzz");
  CHECK(lines.ok() || !lines.error().message.empty());
}

/// Both runs pay for a machine of a day; nothing of the day is paid twice.
void try_claims(std::string_view text) {
  const auto claims = stint::read_machine_claims(text, "fuzz");
  if (!claims.ok()) {
    CHECK(!claims.error().message.empty());
    return;
  }
  const std::string once = stint::write_machine_claims(*claims);
  const auto again = stint::read_machine_claims(once, "fuzz");
  CHECK(again.ok());
  CHECK(stint::write_machine_claims(*again) == once);
  stint::ClusterStatus status{.name = "c", .since = "2026-11-01T00:00:00Z"};
  for (const char* name : {"vm1", "vm2"}) {
    status.vms.push_back({.name = name, .type = "local.small", .age = 24 * stint::kHour});
  }
  for (const int member : {0, 1}) {
    const stint::ClusterStatus view = stint::view_of(*claims, status, member);
    for (const stint::VmStatus& vm : view.vms) CHECK(vm.age <= 24 * stint::kHour);
    stint::machine_to_join(*claims, status, member, {.type = "local.small"});
    stint::others_train(*claims, member, "vm1");
    stint::find_claim(*claims, member, "vm1");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  switch (bytes[0]) {
    case 'r':
      stint::try_noun(text, stint::read_run, stint::write_run);
      break;
    case 'p':
      stint::try_noun(text, stint::read_run_plan, stint::write_run_plan);
      break;
    case 'j':
      try_journal(text);
      break;
    case 'c':
      try_claims(text);
      break;
    default:
      stint::try_noun(text, stint::read_search, stint::write_search);
  }
  return 0;
}
