#include "run/run_sharing.h"

#include <fmt/format.h>

namespace stint {
namespace {

constexpr std::size_t kNameMax = 47;  // At a turnstile.

const char* mode_word(SharingMode mode) {
  switch (mode) {
    case SharingMode::kWhole:
      return "whole";
    case SharingMode::kFreely:
      return "free";
    case SharingMode::kBucket:
    case SharingMode::kSeparately:
      return "bucket";
  }
  return "bucket";
}

}  // namespace

std::vector<std::string> turn_variables(const RunSharing& sharing, const std::string& run) {
  const bool free = sharing.mode == SharingMode::kFreely;
  return {fmt::format("STINT_TURNS={}", mode_word(sharing.mode)),
          fmt::format("STINT_TURNS_JOB={}", run.substr(0, kNameMax)),
          fmt::format("STINT_TURNS_ORDER={}", sharing.member),
          fmt::format("STINT_TURNS_SHARE={}", free ? 1 : sharing.turns),
          fmt::format("STINT_TURNS_PATIENCE={:.6f} s", free ? 0 : sharing.patience.in(kSecond))};
}

}  // namespace stint
