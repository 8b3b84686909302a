#pragma once

#include <memory>
#include <string>

#include "base/listener.h"
#include "base/result.h"
#include "base/units.h"
#include "checkpoint/shard_store.h"

namespace stint {

struct ReceiverTerms {
  std::string folder;
  std::string secret;              // Of the run; see make_secret.
  int port = 0;                    // 0: any.
  Bytes memory = 4 * kGiB;         // For shards.
  Seconds silence = 60 * kSecond;  // A connection that is silent for longer is closed.
  Seconds proof = 5 * kSecond;     // For the proof to come.
};

/// Takes shards of one run's checkpoints from workers, and gives them back. It speaks with each of
/// them in a thread of its own, so that nobody waits for another one.
class Receiver {
 public:
  /// Listens from here on. Usage errors: no secret, or no port.
  static Result<Receiver> open(ReceiverTerms terms);

  int port() const { return listener_.port(); }

  /// Serves until the process ends; returns only when the socket breaks. What was kept is on the
  /// disk, so that it may be killed at any time.
  Status serve();

 private:
  Receiver(ReceiverTerms terms, std::unique_ptr<ShardStore> store, Listener listener);

  // Shared with the threads, which may outlive this object.
  std::shared_ptr<const ReceiverTerms> terms_;
  std::shared_ptr<ShardStore> store_;
  Listener listener_;
};

}  // namespace stint
