#pragma once

#include <array>
#include <optional>
#include <span>

#include "optimise/space.h"

namespace stint {

/// VMs of one rental in a cluster.
struct Part {
  int rental = 0;
  int vms = 1;
  int workers_per_vm = 1;

  bool operator==(const Part&) const = default;
};

/// Where checkpoints go.
struct SaveChoice {
  CheckpointPlace place = CheckpointPlace::kObjectStore;
  int receivers = 0;  // Machines of a tier.

  bool operator==(const SaveChoice&) const = default;
};

/// One thing to rent and one way to run the job on it.
struct Config {
  std::array<Part, 2> parts;  // The first `kinds` of them count.
  int kinds = 1;
  int choice = 0;        // Index into the choices of batch.
  int accumulation = 1;  // Divides the global batch.
  Collective collective = Collective::kRing;
  SaveChoice save = {};  // Of no meaning without spot machines.

  std::span<const Part> used() const { return {parts.data(), static_cast<std::size_t>(kinds)}; }
  bool operator==(const Config&) const = default;
};

/// The ways to save that a configuration has.
struct SaveChoices {
  std::array<SaveChoice, 4> all;
  std::size_t count = 0;

  void add(const SaveChoice& choice) { all[count++] = choice; }
  const SaveChoice* begin() const { return all.data(); }
  const SaveChoice* end() const { return all.data() + count; }
};

}  // namespace stint
