#include "cloud/http.h"

#include <fmt/format.h>

#include "base/connection.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    default:
      return "Method Not Allowed";
  }
}

/// The head of a request, or the reason why there is none.
std::string read_head(Connection& client) {
  std::string bytes;
  while (!is_whole_request(bytes) && bytes.size() < kHttpRequestMax) {
    const auto line = client.read_line(kHttpRequestMax - bytes.size());
    if (!line) break;
    bytes += *line + "\n";
  }
  return bytes;
}

}  // namespace

std::optional<std::string> HttpRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return std::nullopt;
}

bool is_whole_request(std::string_view bytes) {
  return bytes.find(kEndOfHead) != std::string_view::npos;
}

std::optional<HttpRequest> parse_http(std::string_view bytes) {
  if (bytes.size() > kHttpRequestMax || !is_whole_request(bytes)) return std::nullopt;
  const std::vector<std::string> lines = split(bytes.substr(0, bytes.find(kEndOfHead)), '\n');
  const std::vector<std::string> first = split(lines[0], ' ');
  if (first.size() != 3 || !first[2].starts_with("HTTP/1.") || !first[1].starts_with("/")) {
    return std::nullopt;
  }
  HttpRequest request{.method = first[0], .path = first[1].substr(0, first[1].find('?'))};
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::size_t colon = lines[i].find(':');
    if (colon == std::string::npos) return std::nullopt;
    request.headers.emplace_back(to_lower(lines[i].substr(0, colon)),
                                 std::string(trim(lines[i].substr(colon + 1))));
  }
  return request;
}

std::string to_bytes(const HttpAnswer& answer) {
  std::string bytes = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
      answer.status, reason_of(answer.status), answer.type, answer.body.size());
  for (const auto& [name, value] : answer.headers) bytes += fmt::format("{}: {}\r\n", name, value);
  return bytes + "\r\n" + answer.body;
}

void serve_http(const Listener& listener,
                const std::function<HttpAnswer(const HttpRequest&)>& handler, Seconds limit) {
  while (true) {
    auto socket = listener.accept();
    if (!socket.ok()) return;
    Connection client(std::move(*socket), limit);
    client.set_limit(limit);  // One client after the other: none may hold up the next.
    const auto request = parse_http(read_head(client));
    client.write(to_bytes(request ? handler(*request) : HttpAnswer{.status = 400}));
  }
}

}  // namespace stint
