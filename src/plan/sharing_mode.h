#pragma once

#include <span>

#include "base/codec_fields.h"

namespace stint {

/// The modes in which jobs share VMs. The names of the enumerators are stored in files.
enum class SharingMode {
  kSeparately,  // No sharing: each job has its own VMs, or the jobs run one after the other.
  kFreely,      // No coordination: accelerators serve the jobs in time slices, or both at once.
  kWhole,       // Turns; gradients are sent when all of them are ready.
  kBucket,      // Turns; buckets are sent when they are ready, as DDP does.
};

std::span<const EnumName<SharingMode>> names_of(SharingMode type);

}  // namespace stint
