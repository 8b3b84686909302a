#include "risk/save_cost.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace stint {
namespace {

Seconds time_on(const SaveLine& line, Bytes bytes) { return line.latency + bytes / line.rate; }

struct Way {
  Seconds save;
  Seconds restore;
};

Way way_to_store(const SaveSetup& setup) {
  const BytesPerSecond one = std::min(setup.sender_nic, setup.store.rate);
  CHECK(one > BytesPerSecond());
  return {.save = time_on({setup.store.latency, (setup.sharded ? setup.senders : 1) * one},
                          setup.bytes),
          .restore = time_on({setup.store.latency, one}, setup.bytes)};
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

SaveCost save_cost(const SaveSetup& setup) {
  CHECK(setup.bytes > Bytes());
  CHECK(setup.senders >= 1);
  const Seconds copy = setup.copy ? *setup.copy : time_on(kHostCopyMeasured, setup.bytes);
  const Way way = way_of(setup);
  if (setup.asynchronous) {
    return {.stall = copy, .transfer = way.save, .restore = way.restore + copy};
  }
  return {.stall = copy + way.save, .transfer = {}, .restore = way.restore + copy};
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
