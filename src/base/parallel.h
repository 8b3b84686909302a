#pragma once

#include <cstddef>
#include <functional>

namespace stint {

/// Hears how much of a long work is done, within [0, 1].
using Progress = std::function<void(double)>;

/// Calls `each` once for 0, …, count − 1, on as many threads as the machine runs at once, in no
/// certain order; returns when all are done. Each call writes only what no other call touches, so
/// that results do not depend on the threads. `progress` is called by one thread at a time.
void for_each_parallel(std::size_t count, const std::function<void(std::size_t)>& each,
                       const Progress& progress = {});

}  // namespace stint
