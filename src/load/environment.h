#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace stint {

/// The part of the world that use cases look at: folders, locale, clock.
struct Environment {
  std::optional<std::string> data_folder;        // For user catalogues; absent without HOME.
  std::optional<std::string> state_folder = {};  // For the last plan; absent without HOME.
  std::string home;
  std::string shell;                   // "bash", "zsh", "fish", or empty.
  std::string charset;                 // As the locale names it, for example "UTF-8".
  std::shared_ptr<const Clock> clock;  // Shared: tests look at the clock they hand in.
};

/// Looks up an environment variable; empty when it is not set.
using Variables = std::function<std::string(const char*)>;

/// Whether the locale's characters are UTF-8, by LC_ALL, LC_CTYPE or LANG. Without any of them most
/// terminals show UTF-8, so that it is taken for granted.
bool shows_utf8(const Variables& variables);

/// Reads XDG_DATA_HOME, XDG_STATE_HOME, HOME, SHELL and the locale. STINT_NOW
/// ("2026-11-15T00:00:00Z") stops the clock, for output that repeats; a bad one is a usage error.
Result<Environment> environment_from(const Variables& variables);

}  // namespace stint
