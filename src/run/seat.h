#pragma once

#include <compare>

namespace stint {

/// The place of a worker: the first on a VM, unless it says otherwise.
struct Seat {
  int vm = 0;
  int local = 0;  // Number among the workers of the VM.

  Seat() = default;
  Seat(int number, int among = 0) : vm(number), local(among) {}
  auto operator<=>(const Seat&) const = default;
};

}  // namespace stint
