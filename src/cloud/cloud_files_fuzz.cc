// Files and messages of the emulated cloud; the first byte chooses: the journal of a cluster, a
// table of its spot market, or a message to its keeper.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/codec.h"
#include "cloud/cgroup.h"
#include "cloud/cluster_files.h"
#include "cloud/cluster_spec.h"
#include "cloud/cluster_status.h"
#include "cloud/control.h"

namespace {

std::string written(const stint::Journal& journal) {
  std::string text = stint::journal_head(journal.name);
  for (const stint::ProcessId& process : journal.processes) text += stint::journal_line(process);
  for (const auto& folder : journal.cgroups) text += stint::journal_line_of_cgroup(folder);
  return text;
}

void try_journal(std::string_view text) {
  const auto journal = stint::read_journal(text, "fuzz");
  if (!journal.ok()) {
    CHECK(!journal.error().message.empty());
    return;
  }
  const auto again = stint::read_journal(written(*journal), "fuzz");
  CHECK(again.ok());
  CHECK(written(*again) == written(*journal));
}

void try_pool(std::string_view text) {
  const auto pool = stint::read_pool(text, "fuzz");
  if (!pool.ok()) {
    CHECK(!pool.error().message.empty());
    return;
  }
  for (const double hours : {0.0, 1.0, 1000.0}) {
    const stint::Seconds at = hours * stint::kHour;
    CHECK(stint::spot_capacity(*pool, at).value_or(0) >= 0);
    CHECK(stint::spot_price_factor(*pool, at) > 0);
    CHECK(stint::priced_time(*pool, {}, at) >= stint::Seconds{});
    for (const auto& change : stint::pool_from(*pool, at)) CHECK(change.at >= stint::Seconds{});
  }
}

/// The bill of a VM that a keeper was asked for is a number.
void try_message(std::string_view text) {
  const auto json = stint::parse_json(text, "fuzz");
  if (!json.ok()) return;
  stint::error_in(*json);
  stint::text_at(*json, "name");
  const auto status = stint::decode<stint::ClusterStatus>(*json, stint::kClusterSchema, "fuzz");
  if (status.ok()) {
    const std::string once = stint::write_document(status->noun, stint::kClusterSchema);
    CHECK(stint::read_document<stint::ClusterStatus>(once, stint::kClusterSchema, "fuzz").ok());
  }
  const auto vm = stint::decode<stint::VmSpec>(*json, stint::kVmSpecSchema, "fuzz");
  if (!vm.ok()) return;
  const auto record = stint::born_vm(vm->noun, "10.0.0.1", stint::kMinute, {});
  const stint::Dollars cost = stint::cost_of(record, {}, stint::kHour);
  CHECK(std::isfinite(cost.in(stint::kDollar)));
  CHECK(cost >= stint::Dollars{});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  switch (bytes[0]) {
    case 'j':
      try_journal(text);
      break;
    case 'p':
      try_pool(text);
      break;
    default:
      try_message(text);
  }
  return 0;
}
