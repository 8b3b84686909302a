#include "cloud/control.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <vector>

namespace stint {
namespace {

// More than the messages of kVmsOfLifeMax VMs need.
constexpr std::size_t kMessageMax = 16U << 20U;
constexpr std::size_t kPieceMax = 64000;  // Largest default size of a socket message.

/// Appends the next piece of a message to `text`, and its open file.
Status receive_piece(int socket, Seconds limit, std::string& text, Descriptor& attached) {
  if (!wait_for(socket, POLLIN, limit)) return failed("no answer from the peer");
  std::vector<char> buffer(kPieceMax);
  iovec part{.iov_base = buffer.data(), .iov_len = buffer.size()};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof(space);
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (got < 0) return failed(fmt::format("cannot read an answer: {}", std::strerror(errno)));
  if (got == 0) return failed("the peer closed the connection");
  text.append(buffer.data(), static_cast<std::size_t>(got));
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (head != nullptr && head->cmsg_type == SCM_RIGHTS) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(head), sizeof(int));
    attached = Descriptor(number);
  }
  return {};
}

}  // namespace

std::string text_at(const Json& message, const char* key) {
  const Json* member = message.find(key);
  const std::string* text = member == nullptr ? nullptr : member->as<std::string>();
  return text == nullptr ? "" : *text;
}

Json error_message(const Error& error) {
  Json json;
  json.add("error", Json(error.message));
  json.add("kind", Json(Json::Value(std::int64_t{static_cast<int>(error.kind)})));
  return json;
}

std::optional<Error> error_in(const Json& message) {
  const Json* error = message.find("error");
  const Json* kind = message.find("kind");
  const std::string* text = error == nullptr ? nullptr : error->as<std::string>();
  const std::int64_t* number = kind == nullptr ? nullptr : kind->as<std::int64_t>();
  if (text == nullptr || number == nullptr) return std::nullopt;
  return Error{static_cast<ErrorKind>(*number), *text};
}

Status send_message(int socket, const Json& json, int attached) {
  std::string text = to_text(json, JsonStyle::kLine);
  // A piece that is not full ends the message.
  if (text.size() % kPieceMax == 0) text += ' ';
  for (std::size_t sent = 0; sent < text.size(); sent += kPieceMax) {
    iovec part{.iov_base = text.data() + sent, .iov_len = std::min(kPieceMax, text.size() - sent)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
    if (attached >= 0 && sent == 0) {
      message.msg_control = space;
      message.msg_controllen = sizeof(space);
      cmsghdr* head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(head), &attached, sizeof(int));
    }
    if (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
      return failed(fmt::format("cannot connect to the keeper: {}", std::strerror(errno)));
    }
  }
  return {};
}

Result<Message> receive_message(int socket, Seconds limit) {
  Message whole;
  std::string text;
  do {
    const Status received = receive_piece(socket, limit, text, whole.attached);
    if (!received.ok()) return received.error();
  } while (text.size() % kPieceMax == 0 && text.size() < kMessageMax);
  auto json = parse_json(text, "message");
  if (!json.ok()) return json.error();
  whole.json = std::move(*json);
  return whole;
}

}  // namespace stint
