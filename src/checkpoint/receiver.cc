#include "checkpoint/receiver.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <fmt/format.h>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/connection.h"
#include "base/text.h"
#include "checkpoint/receiver_protocol.h"
#include "checkpoint/secret.h"
#include "checkpoint/shard_file.h"

namespace stint {
namespace {

constexpr int kConnectionsMax = 256;       // More are closed at once.
constexpr int kReasonMax = 190;            // Columns, so that the line has fewer than 200.
constexpr std::size_t kChunk = 1U << 20U;  // Bytes read or sent at a time.

bool refuse(Connection& client, const std::string& reason) {
  return client.write(fmt::format("refused {:.{}}\n", without_controls(reason), kReasonMax));
}

/// The requests of one client, until it disconnects or is disconnected.
class Talk {
 public:
  Talk(Connection client, const ReceiverTerms& terms, ShardStore& store)
      : client_(std::move(client)), terms_(terms), store_(store) {}

  void run() {
    if (!is_known()) return;
    while (const auto line = client_.read_line(kReceiverLineMax)) {
      const auto request = parse_request(*line);
      if (!request.ok()) {
        // The start of the next request is unknown.
        refuse(client_, request.error().message);
        client_.finish();
        return;
      }
      const bool goes_on =
          std::visit([this](const auto& wanted) { return answer(wanted); }, *request);
      if (!goes_on) return;
    }
  }

 private:
  bool is_known() {
    const std::string nonce = random_hex(kNonceBytes);
    std::array<char, kProofDigits + 1> answer{};
    if (!client_.write(fmt::format("{}{}\n", kReceiverGreeting, nonce))) return false;
    if (!client_.read_within(answer.data(), answer.size(), terms_.proof)) return false;
    return same_text({answer.data(), answer.size()}, proof_of(terms_.secret, nonce) + "\n");
  }

  bool answer(const PutRequest& put) {
    auto room = store_.make_room(put.bytes);
    if (!room.ok()) return client_.skip(put.bytes) && refuse(client_, room.error().message);
    std::uint32_t checksum = 0;
    for (std::int64_t at = 0; at < put.bytes;) {
      const auto bytes = static_cast<std::size_t>(
          std::min<std::int64_t>(put.bytes - at, static_cast<std::int64_t>(kChunk)));
      if (!client_.read(room->get() + at, bytes)) return false;
      checksum = checksum_of({room->get() + at, bytes}, checksum);
      at += static_cast<std::int64_t>(bytes);
    }
    if (checksum != put.checksum) {
      return refuse(client_, fmt::format("the checksum of shard {} of {} of step {} is wrong",
                                         put.shard.number, put.shard.count, put.shard.step));
    }
    const Status kept = store_.keep(
        put.shard, {.bytes = std::move(*room), .size = put.bytes, .checksum = checksum});
    return kept.ok() ? client_.write("kept\n") : refuse(client_, kept.error().message);
  }

  bool answer(const GetRequest& get) {
    if (const auto held = store_.in_memory(get.shard)) {
      return client_.write(to_line(HereAnswer{.bytes = held->size, .checksum = held->checksum})) &&
             client_.write(held->text());
    }
    if (const auto file = store_.on_disk(get.shard)) return send_file(*file);
    return client_.write("missing\n");
  }

  bool send_file(const ShardFile& file) {
    if (!client_.write(to_line(HereAnswer{.bytes = file.bytes, .checksum = file.checksum}))) {
      return false;
    }
    std::vector<char> buffer(kChunk);
    for (std::int64_t at = 0; at < file.bytes;) {
      const auto bytes = static_cast<std::size_t>(
          std::min<std::int64_t>(file.bytes - at, static_cast<std::int64_t>(buffer.size())));
      if (!read_shard(file, at, buffer.data(), bytes)) return false;
      if (!client_.write({buffer.data(), bytes})) return false;
      at += static_cast<std::int64_t>(bytes);
    }
    return true;
  }

  bool answer(const DropRequest& drop) {
    const Status dropped = store_.drop(drop.step);
    return dropped.ok() ? client_.write("dropped\n") : refuse(client_, dropped.error().message);
  }

  Connection client_;
  const ReceiverTerms& terms_;
  ShardStore& store_;
};

}  // namespace

Receiver::Receiver(ReceiverTerms terms, std::unique_ptr<ShardStore> store, Listener listener)
    : terms_(std::make_shared<const ReceiverTerms>(std::move(terms))),
      store_(std::move(store)),
      listener_(std::move(listener)) {}

Result<Receiver> Receiver::open(ReceiverTerms terms) {
  if (!is_secret(terms.secret)) {
    return bad_usage("the secret of the run must be 64 hexadecimal digits");
  }
  if (terms.port < 0 || terms.port > 65535) return bad_usage("a port must be a number up to 65535");
  auto store = ShardStore::open(terms.folder, terms.memory);
  if (!store.ok()) return store.error();
  auto listener = Listener::on_port(Interfaces::kAll, terms.port);
  if (!listener.ok()) {
    return failed(listener.error().message + "; choose another port, or 0 for any");
  }
  return Receiver(std::move(terms), std::move(*store), std::move(*listener));
}

Status Receiver::serve() {
  // State that is shared with the threads.
  const auto connections = std::make_shared<std::atomic<int>>(0);
  while (true) {
    auto socket = listener_.accept();
    if (!socket.ok()) return socket.error();
    if (*connections >= kConnectionsMax) continue;
    ++*connections;
    // A thread takes a pointer, because its argument must be copyable.
    auto held = std::make_shared<Descriptor>(std::move(*socket));
    try {
      std::thread([terms = terms_, store = store_, connections, held] {
        Talk(Connection(std::move(*held), terms->silence), *terms, *store).run();
        --*connections;
      }).detach();
    } catch (const std::system_error&) {
      --*connections;  // Without a thread there is no answer, and the client tries again.
    }
  }
}

}  // namespace stint
