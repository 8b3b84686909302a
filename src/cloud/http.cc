#include "cloud/http.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/text.h"

namespace stint {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";
constexpr timeval kPatience = {2, 0};

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

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string read_head(int socket) {
  std::string bytes;
  char buffer[4096];
  while (!is_whole_request(bytes) && bytes.size() < kHttpRequestMax) {
    const ssize_t got = ::recv(socket, buffer, sizeof(buffer), 0);
    if (got <= 0) break;
    bytes.append(buffer, static_cast<std::size_t>(got));
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

Result<int> listen_on_loopback(int port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound =
      listener >= 0 &&
      ::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      ::listen(listener, 16) == 0;
  if (bound) return listener;
  const int error = errno;
  if (listener >= 0) ::close(listener);
  return failed(fmt::format("cannot listen on 127.0.0.1:{}: {}", port, std::strerror(error)));
}

void serve_http(int listener, const std::function<HttpAnswer(const HttpRequest&)>& handler) {
  while (true) {
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (socket < 0) return;
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
    const auto request = parse_http(read_head(socket));
    send_all(socket, to_bytes(request ? handler(*request) : HttpAnswer{.status = 400}));
    ::shutdown(socket, SHUT_WR);
    ::close(socket);
  }
}

}  // namespace stint
