#pragma once

#include "base/codec.h"

/// The documents of `-o json` that no noun of another module describes. A view has the members of
/// its document, its mark in `kSchema` and its title in `kTitle`, and is described once; see
/// base/codec.h. The renderers fill it in. Only tests read a view back, so that unknown members
/// need not be kept. A new view is listed in view_formats.cc.
namespace stint::cli {

inline constexpr FieldRules kCount = {.range = Range::kNotNegative};
inline constexpr FieldRules kShare = {.range = Range::kFraction};
inline constexpr FieldRules kList = {.always = true};

template <class View>
Json encoded(const View& view) {
  return encode(view, View::kSchema);
}

}  // namespace stint::cli
