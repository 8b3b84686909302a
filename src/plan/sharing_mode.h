#pragma once

#include <span>

#include "base/codec_fields.h"

namespace stint {

/// How jobs on the same VMs get along. Enumerators stand in files.
enum class SharingMode {
  kSeparately,  // Not at all: each has VMs of its own, or they go one after the other.
  kFreely,      // Nobody is in charge: accelerators go round in slices of time, or serve both.
  kWhole,       // By turns; gradients leave when all of them are ready.
  kBucket,      // By turns; buckets leave when they are ready, as DDP does.
};

std::span<const EnumName<SharingMode>> names_of(SharingMode type);

}  // namespace stint
