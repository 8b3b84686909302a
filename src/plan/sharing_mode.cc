#include "plan/sharing_mode.h"

#include <array>

namespace stint {

std::span<const EnumName<SharingMode>> names_of(SharingMode) {
  static constexpr std::array kNames =
      std::to_array<EnumName<SharingMode>>({{SharingMode::kSeparately, "separately"},
                                            {SharingMode::kFreely, "freely"},
                                            {SharingMode::kWhole, "whole"},
                                            {SharingMode::kBucket, "bucket"}});
  return kNames;
}

}  // namespace stint
