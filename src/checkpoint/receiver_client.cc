#include "checkpoint/receiver_client.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "base/listener.h"
#include "base/text.h"
#include "checkpoint/receiver_protocol.h"
#include "checkpoint/secret.h"
#include "checkpoint/shard_file.h"

namespace stint {
namespace {

constexpr std::size_t kAnswerMax = 4096;  // Bytes; reasons are sentences.

}  // namespace

Result<ReceiverClient> ReceiverClient::connect(const ReceiverPlace& place, Seconds patience) {
  std::string name = fmt::format("{}:{}", place.address, place.port);
  if (!is_secret(place.secret)) return bad_input("the run's secret must be 64 hexadecimal digits");
  auto socket = connect_to(place.address, place.port, patience);
  if (!socket.ok()) {
    if (socket.error().kind == ErrorKind::kBadInput) return socket.error();
    return failed(fmt::format("cannot reach the receiver at {}: {}", name, socket.error().message));
  }
  auto channel =
      ProvenChannel::of_client(Connection(std::move(*socket), patience), place.secret, patience);
  if (!channel.ok()) {
    return failed(fmt::format("the process at {} {}", name, channel.error().message));
  }
  return ReceiverClient(std::move(*channel), std::move(name));
}

Error ReceiverClient::gone() const {
  return failed(fmt::format(
      "the receiver at {} closed the connection, or its answer is not authentic; it may be gone",
      name_));
}

Result<std::string> ReceiverClient::answer() {
  auto line = channel_.read_line(kAnswerMax);
  if (!line) return gone();
  if (line->starts_with("refused ")) {
    return failed(fmt::format("the receiver at {} refused: {}", name_,
                              without_controls(line->substr(std::strlen("refused ")))));
  }
  return std::move(*line);
}

Status ReceiverClient::expect(std::string_view wanted) {
  const auto line = answer();
  if (!line.ok()) return line.error();
  if (*line == wanted) return {};
  return failed(
      fmt::format("unexpected answer of the receiver at {}: '{}'", name_, printable(*line)));
}

Status ReceiverClient::put(const ShardName& shard, std::string_view bytes) {
  const PutRequest request{.shard = shard,
                           .bytes = static_cast<std::int64_t>(bytes.size()),
                           .checksum = checksum_of(bytes)};
  if (!channel_.write(to_line(request))) return gone();
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kFrameMax, bytes.size()))) {
    if (!channel_.write(bytes.substr(0, kFrameMax))) return gone();
  }
  return expect("kept");
}

Result<std::optional<std::string>> ReceiverClient::get(const ShardName& shard) {
  if (!channel_.write(to_line(GetRequest{.shard = shard}))) return gone();
  const auto line = answer();
  if (!line.ok()) return line.error();
  if (*line == "missing") return std::optional<std::string>();
  const auto here = parse_here(*line);
  if (!here.ok()) return here.error();
  std::string bytes;  // Grows with the received bytes, not with the announced length.
  while (static_cast<std::int64_t>(bytes.size()) < here->bytes) {
    const std::size_t at = bytes.size();
    bytes.resize(at + std::min(kFrameMax, static_cast<std::size_t>(here->bytes) - at));
    if (!channel_.read(bytes.data() + at, bytes.size() - at)) return gone();
  }
  if (checksum_of(bytes) != here->checksum) {
    return failed(fmt::format("shard {} of {} of step {} from the receiver at {} is damaged",
                              shard.number, shard.count, shard.step, name_));
  }
  return std::optional(std::move(bytes));
}

Result<bool> ReceiverClient::fetch(const ShardName& shard, const std::string& folder) {
  const auto bytes = get(shard);
  if (!bytes.ok()) return bytes.error();
  if (!*bytes) return false;
  const auto all = PrivateFolder::make(folder);
  if (!all.ok()) return all.error();
  const auto generation = all->make_inside(generation_name(shard.step));
  if (!generation.ok()) return generation.error();
  const Status written = write_shard(*generation, shard, **bytes, checksum_of(**bytes));
  if (!written.ok()) return written.error();
  return true;
}

Status ReceiverClient::drop(std::int64_t step) {
  if (!channel_.write(to_line(DropRequest{.step = step}))) return gone();
  return expect("dropped");
}

}  // namespace stint
