#include "risk/save_cost.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "catalog/fabric.h"

namespace stint {
namespace {

Seconds time_on(const SaveLine& line, Bytes bytes) { return line.latency + bytes / line.rate; }

struct Way {
  Seconds save;
  Seconds restore;
};

Way way_to_store(const SaveSetup& setup) {
  const double connections = setup.sharded ? setup.workers : 1;
  const double of_one_vm = setup.sharded ? connections / setup.senders : 1;
  const int vms = setup.sharded ? setup.senders : 1;
  const BytesPerSecond out = std::min(vms * setup.sender_nic, connections * setup.store.rate);
  const BytesPerSecond in = std::min(setup.sender_nic, of_one_vm * setup.store.rate);
  CHECK(out > BytesPerSecond());
  CHECK(in > BytesPerSecond());
  return {.save = time_on({setup.store.latency, out}, setup.bytes),
          .restore = time_on({setup.store.latency, in}, setup.bytes)};
}

Way way_to_machines(const SaveSetup& setup) {
  const int receivers = setup.place == CheckpointPlace::kAnchor ? 1 : setup.receivers;
  CHECK(receivers >= 1);
  const BytesPerSecond flow =
      std::min(setup.senders * setup.sender_nic, receivers * setup.receiver_nic);
  CHECK(flow > BytesPerSecond());
  return {.save = time_on({setup.network_latency, flow}, setup.bytes),
          .restore = time_on({setup.network_latency, flow}, setup.senders * setup.bytes)};
}

Way way_of(const SaveSetup& setup) {
  switch (setup.place) {
    case CheckpointPlace::kObjectStore:
      return way_to_store(setup);
    case CheckpointPlace::kAnchor:
    case CheckpointPlace::kTier:
      return way_to_machines(setup);
  }
  CHECK(false);
  return {};
}

}  // namespace

SaveLine copy_line(const HostCopy& copy, const Gpu* gpu) {
  const auto link = gpu == nullptr ? std::nullopt : host_link_rate(*gpu);
  return {copy.latency, link ? copy.link_share * *link : copy.rate_unknown};
}

SaveCost save_cost(const SaveSetup& setup) {
  CHECK(setup.bytes > Bytes());
  CHECK(setup.senders >= 1);
  CHECK(!setup.sharded || setup.workers >= setup.senders);
  const Bytes part = setup.sharded ? setup.bytes / setup.workers : setup.bytes;
  const Seconds copy = setup.copy ? *setup.copy : time_on(setup.copy_line, part);
  const Seconds back = setup.copy ? *setup.copy : time_on(setup.copy_line, setup.bytes);
  const Way way = way_of(setup);
  if (setup.asynchronous) {
    return {.stall = copy, .transfer = way.save, .restore = way.restore + back};
  }
  return {.stall = copy + way.save, .transfer = {}, .restore = way.restore + back};
}

int receivers_needed(int senders, BytesPerSecond sender_nic, BytesPerSecond receiver_nic) {
  CHECK(senders >= 1);
  CHECK(receiver_nic > BytesPerSecond());
  // Rounding must not add a receiver for equal NICs.
  const double ratio = senders * sender_nic / receiver_nic;
  return std::max(1, static_cast<int>(std::ceil(ratio * (1 - 1e-12))));
}

std::optional<Seconds> spot_notice(std::string_view provider) {
  if (provider == "aws") return 120 * kSecond;
  if (provider == "gcp" || provider == "azure") return 30 * kSecond;
  return std::nullopt;
}

bool fits_in_notice(const SaveCost& save, Seconds notice) { return save.until_safe() <= notice; }

}  // namespace stint
