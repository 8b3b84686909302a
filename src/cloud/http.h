#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/listener.h"
#include "base/units.h"

namespace stint {

/// The part of HTTP/1.1 that a metadata service needs: requests without a body, one per connection.
struct HttpRequest {
  std::string method;
  std::string path;                                               // Without the query.
  std::vector<std::pair<std::string, std::string>> headers = {};  // Names in lower case.

  /// The value of the header `name`, given in lower case, or nothing.
  std::optional<std::string> header(std::string_view name) const;
};

struct HttpAnswer {
  int status = 200;
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string type = "text/plain";
};

/// Largest request; a larger one is refused.
inline constexpr std::size_t kHttpRequestMax = 16384;

/// Whether `bytes` hold a whole request head.
bool is_whole_request(std::string_view bytes);

/// Nothing when `bytes` are not a request.
std::optional<HttpRequest> parse_http(std::string_view bytes);

std::string to_bytes(const HttpAnswer& answer);

/// Answers connections to `listener` one after the other; returns only when the listener fails. A
/// client that has not sent its request and taken the answer within `limit` is disconnected.
void serve_http(const Listener& listener,
                const std::function<HttpAnswer(const HttpRequest&)>& handler,
                Seconds limit = 2 * kSecond);

}  // namespace stint
