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
  std::string secret;               // Secret of the run; see make_secret.
  std::string address = kLoopback;  // The only one that it listens on.
  int port = 0;                     // 0: any.
  Bytes memory = 4 * kGiB;          // For shards.
  Seconds silence = 60 * kSecond;   // A connection that is silent for longer is closed.
  Seconds proof = 5 * kSecond;      // Time limit for the proof.
};

/// Receives shards of one run's checkpoints from workers, and returns them. Each client has its own
/// thread, so that none waits for another.
class Receiver {
 public:
  /// Listens from here on. Usage errors: an invalid secret, an invalid port, or an address that is
  /// not one of a machine.
  static Result<Receiver> open(ReceiverTerms terms);

  int port() const { return listener_.port(); }

  /// Serves until the process ends; returns only when the socket fails. Confirmed shards are on the
  /// disk, so that the process may be killed at any time.
  Status serve();

 private:
  Receiver(ReceiverTerms terms, std::unique_ptr<ShardStore> store, Listener listener);

  // Shared with the threads, which may outlive this object.
  std::shared_ptr<const ReceiverTerms> terms_;
  std::shared_ptr<ShardStore> store_;
  Listener listener_;
};

}  // namespace stint
