#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/codec_fields.h"
#include "base/units.h"
#include "catalog/market.h"

namespace stint {

/// A machine that is wanted.
struct MachineOrder {
  std::string name = {};  // Ours, in the journal before the request.
  std::string type = {};  // VM type of the catalogue.
  Market market = Market::kOnDemand;
  BytesPerSecond network = {};       // Rate of its NIC, for engines that shape it.
  DollarsPerSecond price = {};       // As planned.
  std::optional<Seconds> life = {};  // From its launch on, for engines that emulate interruptions.
};

/// The phase of a machine that was asked for.
enum class MachinePhase {
  kPending,  // Accepted; it waits in a queue or starts.
  kUp,
  kNoticed,  // Up, with an interruption notice.
  kGone      // Lost or released; it costs nothing from then on.
};

std::span<const EnumName<MachinePhase>> names_of(MachinePhase type);

/// What an engine knows of a machine.
struct MachineState {
  std::string name;
  std::string type = {};
  Market market = Market::kOnDemand;
  MachinePhase phase = MachinePhase::kPending;
  std::string reason = {};               // Of waiting, or of the loss.
  std::string address = {};              // At which other machines find it.
  std::optional<Seconds> takes_in = {};  // Time left until the announced interruption.
  bool released = false;                 // It is gone because it was released.
  Seconds paid = {};                     // Time for which it costs, so far.
  DollarsPerSecond price = {};           // At present; zero once it is gone.
  std::optional<Dollars> cost = {};      // So far, by an engine that counts it.
};

/// A request that was not accepted.
struct MachineRefusal {
  std::string name;
  std::string reason;
  bool again = true;  // A later request may be accepted.
};

/// A release that is not confirmed yet.
struct OwedRelease {
  std::string name;
  int failures = 0;
  std::string reason = {};  // Of the last failure.
};

/// All machines of a run at a moment, including those that are gone, as far as they are known.
struct MachineList {
  std::vector<MachineState> machines = {};
  std::optional<int> spot_capacity = {};  // Spot machines that can be had, including those held.
};

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, MachineOrder>& it) {
  walk.field("name", it.name, "Name of the machine.");
  walk.field("type", it.type, "VM type.");
  walk.field("market", it.market, "Market that it comes from.");
  walk.number("network_bytes_per_s", it.network, kByte / kSecond, "Rate of its NIC.",
              Range::kNotNegative);
  walk.number("price_usd_per_s", it.price, kDollar / kSecond, "Price as planned.",
              Range::kNotNegative);
  walk.number("life_s", it.life, kSecond, "Time from launch to the spot interruption.",
              Range::kNotNegative);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, MachineState>& it) {
  walk.field("name", it.name, "Name of the machine.");
  walk.field("type", it.type, "VM type.");
  walk.field("market", it.market, "Market that it comes from.");
  walk.field("phase", it.phase, "Pending, up, up with an interruption notice, or gone.");
  walk.field("reason", it.reason, "Reason of waiting, or of the loss.");
  walk.field("address", it.address, "Address for other machines.");
  walk.number("takes_in_s", it.takes_in, kSecond, "Time left until the interruption.",
              Range::kNotNegative);
  walk.field("released", it.released, "Whether it is gone because it was released.");
  walk.number("paid_s", it.paid, kSecond, "Time for which it costs, so far.", Range::kNotNegative);
  walk.number("price_usd_per_s", it.price, kDollar / kSecond, "Present price.",
              Range::kNotNegative);
  walk.number("cost_usd", it.cost, kDollar, "Cost so far, where the engine counts it.",
              Range::kNotNegative);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, MachineRefusal>& it) {
  walk.field("name", it.name, "Name of the machine.");
  walk.field("reason", it.reason, "Reason of the refusal.");
  walk.field("again", it.again, "Whether a later request may be accepted.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, OwedRelease>& it) {
  walk.field("name", it.name, "Name of the machine.");
  walk.field("failures", it.failures, "Failed attempts.", {.range = Range::kNotNegative});
  walk.field("reason", it.reason, "Reason of the last failure.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, MachineList>& it) {
  walk.field("machines", it.machines, "All machines of the run.");
  walk.field("spot_capacity", it.spot_capacity, "Spot machines that can be had; absent: no limit.",
             {.range = Range::kNotNegative});
}

}  // namespace stint
