#include "app/run/receive_shards.h"

#include "base/descriptor.h"
#include "checkpoint/receiver.h"

namespace stint {
namespace {

constexpr Seconds kPatience = 10 * kSecond;  // For the secret.

}  // namespace

Status receive_shards(const ReceiveRequest& request,
                      const std::function<void(int port)>& listening) {
  auto receiver = Receiver::open({.folder = request.folder,
                                  .secret = read_line(request.input, kPatience),
                                  .address = request.address,
                                  .port = request.port,
                                  .memory = request.memory});
  if (!receiver.ok()) return receiver.error();
  listening(receiver->port());
  return receiver->serve();
}

}  // namespace stint
