#include "checkpoint/receiver.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/connection.h"
#include "base/text.h"
#include "checkpoint/proven_channel.h"
#include "checkpoint/receiver_protocol.h"
#include "checkpoint/secret.h"
#include "checkpoint/shard_file.h"
#include "checkpoint/unproven.h"

namespace stint {
namespace {

constexpr int kProvenMax = 256;           // Clients that have proven the secret; more are refused.
constexpr std::size_t kUnprovenMax = 64;  // Connections that have not.
constexpr int kReasonMax = 190;           // Columns, so that the line has fewer than 200.

bool refuse(ProvenChannel& client, const std::string& reason) {
  return client.write(fmt::format("refused {:.{}}\n", without_controls(reason), kReasonMax));
}

/// The bytes of the frame at `at` of a shard.
std::size_t frame_at(std::int64_t at, std::int64_t bytes) {
  return std::min(kFrameMax, static_cast<std::size_t>(bytes - at));
}

/// The requests of one client, until it disconnects or is disconnected.
class Talk {
 public:
  Talk(ProvenChannel client, ShardStore& store) : client_(std::move(client)), store_(store) {}

  void run() {
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
  bool skip(std::int64_t bytes) {
    std::vector<char> buffer(frame_at(0, bytes));
    for (std::int64_t at = 0; at < bytes; at += static_cast<std::int64_t>(kFrameMax)) {
      if (!client_.read(buffer.data(), frame_at(at, bytes))) return false;
    }
    return true;
  }

  bool send(std::string_view bytes) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(kFrameMax, bytes.size()))) {
      if (!client_.write(bytes.substr(0, kFrameMax))) return false;
    }
    return true;
  }

  bool answer(const PutRequest& put) {
    auto room = store_.make_room(put.bytes);
    if (!room.ok()) return skip(put.bytes) && refuse(client_, room.error().message);
    std::uint32_t checksum = 0;
    for (std::int64_t at = 0; at < put.bytes;) {
      const std::size_t bytes = frame_at(at, put.bytes);
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
             send(held->text());
    }
    if (const auto file = store_.on_disk(get.shard)) return send_file(*file);
    return client_.write("missing\n");
  }

  bool send_file(const ShardFile& file) {
    if (!client_.write(to_line(HereAnswer{.bytes = file.bytes, .checksum = file.checksum}))) {
      return false;
    }
    std::vector<char> buffer(frame_at(0, file.bytes));
    for (std::int64_t at = 0; at < file.bytes;) {
      const std::size_t bytes = frame_at(at, file.bytes);
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

  ProvenChannel client_;
  ShardStore& store_;
};

/// State that the threads of the clients share.
struct Clients {
  Unproven unproven{kUnprovenMax};
  std::atomic<int> proven = 0;
};

/// The whole life of a connection.
void serve_client(Descriptor socket, std::uint64_t number, const ReceiverTerms& terms,
                  ShardStore& store, Clients& clients) {
  auto channel =
      ProvenChannel::of_receiver(Connection(std::move(socket), terms.silence), terms.secret,
                                 terms.proof, [&] { clients.unproven.leave(number); });
  if (!channel) return;
  if (++clients.proven <= kProvenMax) {
    Talk(std::move(*channel), store).run();
  } else {
    refuse(*channel, fmt::format("the receiver has {} clients already", kProvenMax));
    channel->finish();
  }
  --clients.proven;
}

}  // namespace

Receiver::Receiver(ReceiverTerms terms, std::unique_ptr<ShardStore> store, Listener listener)
    : terms_(std::make_shared<const ReceiverTerms>(std::move(terms))),
      store_(std::move(store)),
      listener_(std::move(listener)) {}

Result<Receiver> Receiver::open(ReceiverTerms terms) {
  if (!is_secret(terms.secret)) {
    return bad_usage("the secret of the run must be 64 hexadecimal digits");
  }
  if (!is_address(terms.address) || terms.address == kAllAddresses) {
    return bad_usage(
        fmt::format("--address must be one address of this machine, such as 10.77.0.2, not '{}'",
                    printable(terms.address)));
  }
  if (terms.port < 0 || terms.port > 65535) return bad_usage("a port must be a number up to 65535");
  auto store = ShardStore::open(terms.folder, terms.memory);
  if (!store.ok()) return store.error();
  auto listener = Listener::on(terms.address, terms.port);
  if (!listener.ok()) {
    return failed(listener.error().message +
                  "; choose an address of this machine and a free port, or port 0 for any");
  }
  return Receiver(std::move(terms), std::move(*store), std::move(*listener));
}

Status Receiver::serve() {
  const auto clients = std::make_shared<Clients>();
  while (true) {
    auto socket = listener_.accept();
    if (!socket.ok()) return socket.error();
    const std::uint64_t number = clients->unproven.enter(socket->get());
    // A thread takes a pointer, because its argument must be copyable.
    auto held = std::make_shared<Descriptor>(std::move(*socket));
    try {
      std::thread([terms = terms_, store = store_, clients, held, number] {
        serve_client(std::move(*held), number, *terms, *store, *clients);
      }).detach();
    } catch (const std::system_error&) {
      clients->unproven.leave(number);  // Without a thread there is no answer; the client retries.
    }
  }
}

}  // namespace stint
