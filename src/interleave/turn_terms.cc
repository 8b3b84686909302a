#include "interleave/turn_terms.h"

#include "base/check.h"

namespace stint {

TurnTerms terms_of(SharingMode mode) {
  CHECK(mode != SharingMode::kSeparately);
  return {.order = mode == SharingMode::kFreely ? TurnOrder::kSlices : TurnOrder::kRhythm,
          .overlap = mode != SharingMode::kWhole};
}

}  // namespace stint
