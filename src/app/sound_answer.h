#pragma once

#include "base/result.h"

namespace stint {

/// Bad input unless the fields of an answer are finite and in their ranges, as `found` by the
/// codec. Inputs that are each in their range may still multiply to what is in none, for example
/// steps of ten thousand years.
inline Status check_answer(const Status& found) {
  if (found.ok()) return {};
  return bad_input(found.error().message + "; the inputs are too large or too small to answer");
}

}  // namespace stint
