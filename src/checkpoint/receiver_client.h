#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "checkpoint/proven_channel.h"
#include "checkpoint/shard_file.h"

namespace stint {

/// The address of a receiver, and the secret of its run.
struct ReceiverPlace {
  std::string address;  // "10.77.0.2".
  int port = 0;
  std::string secret;
};

/// A client of a receiver; see checkpoint/receiver_protocol.h. After a failure the connection
/// cannot be used.
class ReceiverClient {
 public:
  /// Connects; both ends prove the secret before anything else is sent. No call waits longer than
  /// `patience` for a silent receiver.
  static Result<ReceiverClient> connect(const ReceiverPlace& place, Seconds patience);

  /// Returns when the receiver has confirmed the shard.
  Status put(const ShardName& shard, std::string_view bytes);

  /// The shard, with its checksum verified; nothing when the receiver does not have it.
  Result<std::optional<std::string>> get(const ShardName& shard);

  /// Gets the shard into its file under a folder of checkpoints; false when the receiver does not
  /// have it.
  Result<bool> fetch(const ShardName& shard, const std::string& folder);

  /// Returns when the receiver has removed all shards of the step.
  Status drop(std::int64_t step);

 private:
  ReceiverClient(ProvenChannel channel, std::string name)
      : channel_(std::move(channel)), name_(std::move(name)) {}

  Error gone() const;
  Result<std::string> answer();
  Status expect(std::string_view answer);

  ProvenChannel channel_;
  std::string name_;  // "10.77.0.2:7000", for errors.
};

}  // namespace stint
