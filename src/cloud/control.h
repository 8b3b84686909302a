#pragma once

#include <optional>
#include <string>

#include "base/descriptor.h"
#include "base/json.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// A message on a keeper's socket: a JSON document, and optionally an open file.
struct Message {
  Json json;
  Descriptor attached = {};
};

/// The name of a keeper's socket in the folder of its cluster.
inline constexpr const char* kSocketName = "control.sock";

/// A text field of a message; empty without one.
std::string text_at(const Json& message, const char* key);

/// Conversions between an error and the answer that reports it.
Json error_message(const Error& error);
std::optional<Error> error_in(const Json& message);

Status send_message(int socket, const Json& json, int attached = -1);
Result<Message> receive_message(int socket, Seconds limit);

}  // namespace stint
