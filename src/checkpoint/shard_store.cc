#include "checkpoint/shard_store.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

#include "base/crash_point.h"

namespace stint {
namespace {

std::string size_text(std::int64_t bytes) {
  return fmt::format("{:.1f} MiB", (static_cast<double>(bytes) * kByte).in(kMiB));
}

}  // namespace

Result<std::unique_ptr<ShardStore>> ShardStore::open(const std::string& folder, Bytes memory) {
  auto all = PrivateFolder::make(folder);
  if (!all.ok()) return all.error();
  for (const std::string& name : all->names()) {
    const auto generation = step_of(name) ? all->find_inside(name) : std::nullopt;
    if (!generation) continue;
    for (const std::string& file : generation->names()) {
      if (!file.ends_with(kPartSuffix)) continue;
      const Status removed = generation->remove_file(file);
      if (!removed.ok()) return removed.error();
    }
  }
  const auto limit = static_cast<std::int64_t>(memory.in(kByte));
  // Its mutexes cannot be moved, and its constructor is private.
  struct Opened : ShardStore {
    Opened(PrivateFolder it, std::int64_t bytes) : ShardStore(std::move(it), bytes) {}
  };
  return std::unique_ptr<ShardStore>(std::make_unique<Opened>(std::move(*all), limit));
}

Result<ShardBytes> ShardStore::make_room(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  // A shard that can never fit evicts no others.
  while (bytes <= limit_ && *used_ + bytes > limit_ && !held_.empty()) held_.erase(held_.begin());
  if (*used_ + bytes > limit_) {
    return failed(fmt::format("a shard of {} does not fit: {} of {} are used; raise --memory",
                              size_text(bytes), size_text(*used_), size_text(limit_)));
  }
  // Pages that are not written take no memory, so that a false length costs nothing.
  char* const memory =
      static_cast<char*>(std::malloc(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))));
  if (memory == nullptr) {
    return failed(fmt::format("there is no memory for a shard of {}", size_text(bytes)));
  }
  *used_ += bytes;
  return ShardBytes(memory, [used = used_, bytes](char* it) {
    std::free(it);
    *used -= bytes;
  });
}

Status ShardStore::keep(const ShardName& name, const HeldShard& shard) {
  crash_point("put-received");
  const std::lock_guard disk(disk_mutex_);
  const auto generation = folder_.make_inside(generation_name(name.step));
  if (!generation.ok()) return generation.error();
  Status written = write_shard(*generation, name, shard.text(), shard.checksum);
  if (!written.ok()) return written;
  const std::lock_guard lock(mutex_);
  held_[name] = shard;
  return {};
}

std::optional<HeldShard> ShardStore::in_memory(const ShardName& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(name);
  if (found == held_.end()) return std::nullopt;
  return found->second;
}

std::optional<ShardFile> ShardStore::on_disk(const ShardName& name) const {
  const auto generation = folder_.find_inside(generation_name(name.step));
  auto shard = generation ? open_shard(*generation, name) : std::nullopt;
  if (!shard || !is_undamaged(*shard)) return std::nullopt;
  return shard;
}

Status ShardStore::drop(std::int64_t step) {
  const std::lock_guard disk(disk_mutex_);
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(held_, [&](const auto& entry) { return entry.first.step == step; });
  }
  return folder_.remove_inside(generation_name(step));
}

}  // namespace stint
