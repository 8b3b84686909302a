#pragma once

#include <cstddef>
#include <functional>

namespace stint {

/// Receives the finished share of a long computation, within [0, 1].
using Progress = std::function<void(double)>;

/// Calls `each` once for 0, …, count − 1, on as many threads as the machine runs at once, in any
/// order; returns when all are done. Each call must write only data that no other call uses, so
/// that results do not depend on the threads. `progress` is called by one thread at a time.
void for_each_parallel(std::size_t count, const std::function<void(std::size_t)>& each,
                       const Progress& progress = {});

}  // namespace stint
