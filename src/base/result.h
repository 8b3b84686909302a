#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/check.h"

namespace stint {

/// The classes of errors, as the exit codes of the command line distinguish them.
enum class ErrorKind {
  kFailed,       // A failure of the environment: output unwritable, disk full.
  kUsage,        // A wrong flag, unit or name on the command line.
  kInfeasible,   // No plan satisfies the constraints.
  kBadInput,     // A file that is missing, truncated, of another schema, or holds a bad value.
  kUnavailable,  // Provider, credential or interpreter is unavailable.
  kBreached,     // A deadline or budget was broken.
  kInterrupted,  // The user, or the system, requested the end.
};

/// What failed, on what, and what to do, as one sentence for the user.
struct Error {
  ErrorKind kind = ErrorKind::kFailed;
  std::string message;
};

/// A value, or an error in its place.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT: a value is a result.
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: an error is a result.

  bool ok() const { return value_.has_value(); }

  const Error& error() const {
    CHECK(!ok());
    return error_;
  }

  T& operator*() {
    CHECK(ok());
    return *value_;
  }
  const T& operator*() const {
    CHECK(ok());
    return *value_;
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

 private:
  std::optional<T> value_;
  Error error_;  // Defined only without a value.
};

/// Success without a value, or an error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT: an error is a status.

  bool ok() const { return !error_.has_value(); }

  const Error& error() const {
    CHECK(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

inline Error bad_input(std::string message) { return {ErrorKind::kBadInput, std::move(message)}; }
inline Error bad_usage(std::string message) { return {ErrorKind::kUsage, std::move(message)}; }
inline Error unavailable(std::string message) {
  return {ErrorKind::kUnavailable, std::move(message)};
}
inline Error failed(std::string message) { return {ErrorKind::kFailed, std::move(message)}; }

}  // namespace stint
