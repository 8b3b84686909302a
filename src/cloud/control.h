#pragma once

#include <optional>
#include <string>

#include "base/descriptor.h"
#include "base/json.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// What goes through a keeper's socket: a JSON document, and maybe an open file.
struct Message {
  Json json;
  Descriptor attached = {};
};

/// A socket in `folder` on which a keeper is spoken to. Paths of any length work.
Result<Descriptor> listen_in(const std::string& folder);

/// A failure says whether nobody listens there.
Result<Descriptor> connect_in(const std::string& folder);

inline constexpr const char* kSocketName = "control.sock";

/// An answer that says no, and back.
Json error_message(const Error& error);
std::optional<Error> error_in(const Json& message);

Status send_message(int socket, const Json& json, int attached = -1);
Result<Message> receive_message(int socket, Seconds limit);

}  // namespace stint
