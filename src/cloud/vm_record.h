#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/units.h"
#include "cloud/cluster_spec.h"

namespace stint {

/// Where a VM of the emulated cloud stands.
enum class VmPhase { kRunning, kNoticed, kTaken };

std::span<const EnumName<VmPhase>> names_of(VmPhase type);

/// One VM from its birth on. Times are since the birth of its cluster.
struct VmRecord {
  VmSpec spec;
  std::string address;  // Inside the cluster.
  Seconds born;
  std::optional<Seconds> takes_at = {};  // When it is taken back, once that is known.
  Seconds notice = {};                   // So long before it is told.
  std::optional<Seconds> ended = {};     // When it was gone, whatever the reason.
  bool released = false;                 // Because it was given back.
};

/// The record of a VM that is born now.
VmRecord born_vm(const VmSpec& spec, std::string address, Seconds notice, Seconds now);

/// Takes the VM back after `notice`, unless that happens earlier anyway.
void preempt(VmRecord& vm, Seconds notice, Seconds now);

VmPhase phase_of(const VmRecord& vm, Seconds now);

/// The next moment at which something happens to the VM by itself; absent: nothing will.
std::optional<Seconds> next_event(const VmRecord& vm, Seconds now);

/// What a second of the VM costs now; nothing once it is gone.
DollarsPerSecond price_of(const VmRecord& vm, std::span<const PoolChange> pool, Seconds now);

/// What the VM has cost: its price of each moment from birth until it ended, or until now. Every
/// second counts, from the first on.
Dollars cost_of(const VmRecord& vm, std::span<const PoolChange> pool, Seconds now);

}  // namespace stint
