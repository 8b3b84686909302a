#pragma once

#include <span>

#include "base/units.h"

namespace stint {

/// Gradients that leave together.
struct BucketTiming {
  Seconds ready;          // When they can leave, from the start of backward.
  Seconds communication;  // Alone on the link.
  Seconds latency = {};   // Before that, in flight but not on the link.
};

/// When the last bucket has arrived, from the start of backward. Buckets leave in order, at most
/// `in_flight` at a time, and those on the link share it evenly. For one in flight
///
///   end_k = max(ready_k, end_{k−1}) + latency_k + comm_k.
///
/// NCCL keeps one in flight, Gloo two. A stream of reductions without latency never idles while one
/// waits, so the number changes who finishes first but not when the link falls silent; with several
/// in flight the latency of one passes while another moves.
/// Requires in_flight ≥ 1. No buckets: zero.
Seconds last_arrival(std::span<const BucketTiming> buckets, int in_flight);

/// The time after backward in which the worker only waits for gradients.
///
///   exposed = max(0, last arrival − backward)
Seconds exposed_communication(std::span<const BucketTiming> buckets, int in_flight,
                              Seconds backward);

}  // namespace stint
