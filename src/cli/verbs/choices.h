#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/codec_fields.h"

namespace stint::cli {

/// The names of an enumeration, for an option's choices.
template <ANamedEnum E>
std::vector<std::string> choices_of() {
  std::vector<std::string> choices;
  for (const auto& [value, name] : names_of(E{})) choices.emplace_back(name);
  return choices;
}

/// The enumerator of a text that was checked against the choices.
template <ANamedEnum E>
E enumerator(const std::string& text) {
  const auto names = names_of(E{});
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const EnumName<E>& name) { return text == name.second; });
  CHECK(found != names.end());
  return found->first;
}

}  // namespace stint::cli
