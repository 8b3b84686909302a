#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "checkpoint/private_folder.h"
#include "checkpoint/shard_file.h"

namespace stint {

/// Memory for a shard, shared because a shard that is being sent outlives its removal.
using ShardBytes = std::shared_ptr<char>;

/// A shard in memory.
struct HeldShard {
  ShardBytes bytes;
  std::int64_t size = 0;
  std::uint32_t checksum = 0;

  std::string_view text() const { return {bytes.get(), static_cast<std::size_t>(size)}; }
};

/// The shards of a receiver: all of them on the disk, and the newest ones that fit also in memory.
/// May be used from several threads at once.
class ShardStore {
 public:
  /// Opens the folder with the shards in it; a file that was being written when its former owner
  /// was killed is removed. Use only one object at a time for a folder.
  static Result<std::unique_ptr<ShardStore>> open(const std::string& folder, Bytes memory);

  /// Memory for a shard to be received, for which older ones are evicted. Fails where shards in
  /// transfer take all of it.
  Result<ShardBytes> make_room(std::int64_t bytes);

  /// Returns when the shard is on the disk. Passes the crash points put-received, put-written and
  /// put-renamed.
  Status keep(const ShardName& name, const HeldShard& shard);

  std::optional<HeldShard> in_memory(const ShardName& name) const;

  /// Nothing when it does not exist or is damaged.
  std::optional<ShardFile> on_disk(const ShardName& name) const;

  /// Removes all shards of a step.
  Status drop(std::int64_t step);

 private:
  ShardStore(PrivateFolder folder, std::int64_t limit)
      : folder_(std::move(folder)), limit_(limit) {}

  /// Bytes of all shards in memory. Shared with them, because each subtracts its own at its end.
  std::shared_ptr<std::atomic<std::int64_t>> used_ = std::make_shared<std::atomic<std::int64_t>>(0);

  PrivateFolder folder_;
  std::int64_t limit_;        // Limit of the bytes in memory.
  std::mutex disk_mutex_;     // One shard is written at a time. Locked before the other mutex.
  mutable std::mutex mutex_;  // Guards the following members.
  std::map<ShardName, HeldShard> held_;
};

}  // namespace stint
