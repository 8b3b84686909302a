#include "interleave/turn_terms.h"

#include <array>

#include "base/check.h"

namespace stint {

std::span<const EnumName<SharingMode>> names_of(SharingMode) {
  static constexpr std::array kNames =
      std::to_array<EnumName<SharingMode>>({{SharingMode::kSeparately, "separately"},
                                            {SharingMode::kFreely, "freely"},
                                            {SharingMode::kWhole, "whole"},
                                            {SharingMode::kBucket, "bucket"}});
  return kNames;
}

TurnTerms terms_of(SharingMode mode) {
  CHECK(mode != SharingMode::kSeparately);
  return {.order = mode == SharingMode::kFreely ? TurnOrder::kSlices : TurnOrder::kRhythm,
          .overlap = mode != SharingMode::kWhole};
}

}  // namespace stint
