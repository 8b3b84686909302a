#include "checkpoint/shard_store.h"

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "checkpoint/shard_file.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

class ShardStoreTest : public testing::Test {
 protected:
  std::unique_ptr<ShardStore> open(Bytes memory = 1 * kMiB) const {
    return std::move(*ShardStore::open(folder_, memory));
  }

  /// Stores a shard and drops the reference.
  static Status keep(ShardStore& store, const ShardName& name, const std::string& text) {
    auto room = store.make_room(static_cast<std::int64_t>(text.size()));
    if (!room.ok()) return room.error();
    std::memcpy(room->get(), text.data(), text.size());
    return store.keep(name, {.bytes = std::move(*room),
                             .size = static_cast<std::int64_t>(text.size()),
                             .checksum = checksum_of(text)});
  }

  static std::string memory_of(const ShardStore& store, const ShardName& name) {
    const auto held = store.in_memory(name);
    return held ? std::string(held->text()) : "none";
  }

  static std::string disk_of(const ShardStore& store, const ShardName& name) {
    const auto file = store.on_disk(name);
    if (!file) return "none";
    std::string text(static_cast<std::size_t>(file->bytes), '\0');
    return read_shard(*file, 0, text.data(), text.size()) ? text : "unreadable";
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string folder_ = place_.path() + "/shards";
};

constexpr ShardName kFirst{.step = 40, .number = 0, .count = 2};
constexpr ShardName kOther{.step = 40, .number = 1, .count = 2};
constexpr ShardName kLater{.step = 80, .number = 0, .count = 2};

TEST_F(ShardStoreTest, HoldsShardsInMemoryAndOnTheDisk) {
  const auto store = open();
  ASSERT_TRUE(keep(*store, kFirst, "abc").ok());
  EXPECT_EQ(memory_of(*store, kFirst), "abc");
  EXPECT_EQ(disk_of(*store, kFirst), "abc");
  EXPECT_EQ(memory_of(*store, kOther), "none");
  EXPECT_EQ(disk_of(*store, kOther), "none");
  ASSERT_TRUE(keep(*store, kFirst, "other").ok());
  EXPECT_EQ(memory_of(*store, kFirst), "other");
  EXPECT_EQ(disk_of(*store, kFirst), "other");
}

TEST_F(ShardStoreTest, FindsItsFilesAgain) {
  ASSERT_TRUE(keep(*open(), kFirst, "abc").ok());
  ASSERT_TRUE(write_file(folder_ + "/step-40/shard-1-of-2.part", "half").ok());
  const auto store = open();
  EXPECT_EQ(memory_of(*store, kFirst), "none");
  EXPECT_EQ(disk_of(*store, kFirst), "abc");
  EXPECT_FALSE(fs::exists(folder_ + "/step-40/shard-1-of-2.part"));
}

TEST_F(ShardStoreTest, DropsAStepAndNoOther) {
  const auto store = open();
  for (const ShardName& name : {kFirst, kOther, kLater}) {
    ASSERT_TRUE(keep(*store, name, "abc").ok());
  }
  const auto held = store->in_memory(kFirst);
  EXPECT_TRUE(store->drop(40).ok());
  EXPECT_EQ(memory_of(*store, kFirst), "none");
  EXPECT_EQ(disk_of(*store, kOther), "none");
  EXPECT_FALSE(fs::exists(folder_ + "/step-40"));
  EXPECT_EQ(memory_of(*store, kLater), "abc");
  EXPECT_EQ(held->text(), "abc");  // A transfer in progress can continue.
  EXPECT_TRUE(store->drop(40).ok());
}

// 100 bytes of memory and shards of 60: the second evicts the first.
TEST_F(ShardStoreTest, LetsTheOldestGoFromMemoryWhenItIsFull) {
  const auto store = open(100 * kByte);
  ASSERT_TRUE(keep(*store, kLater, std::string(60, 'b')).ok());
  ASSERT_TRUE(keep(*store, kFirst, std::string(40, 'a')).ok());
  ASSERT_TRUE(keep(*store, {.step = 120}, std::string(30, 'c')).ok());
  EXPECT_EQ(memory_of(*store, kFirst), "none");
  EXPECT_EQ(disk_of(*store, kFirst), std::string(40, 'a'));
  EXPECT_EQ(memory_of(*store, kLater), std::string(60, 'b'));
}

TEST_F(ShardStoreTest, LetsNothingGoForAShardThatNeverFits) {
  const auto store = open(100 * kByte);
  ASSERT_TRUE(keep(*store, kFirst, "abc").ok());
  EXPECT_FALSE(store->make_room(101).ok());
  EXPECT_EQ(memory_of(*store, kFirst), "abc");
  EXPECT_TRUE(store->make_room(100).ok());
}

TEST_F(ShardStoreTest, NeverHasMoreMemoryThanItMay) {
  const auto store = open(100 * kByte);
  const auto room = store->make_room(60);
  ASSERT_TRUE(room.ok());
  const auto more = store->make_room(41);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(store->make_room(std::int64_t{64} << 30U).error().message,
            "a shard of 65536.0 MiB does not fit: 0.0 MiB of 0.0 MiB are used; raise --memory");
  EXPECT_TRUE(store->make_room(40).ok());
  // A shard that is being sent counts, even after its removal.
  ASSERT_TRUE(keep(*store, kFirst, std::string(40, 'a')).ok());
  auto sent = store->in_memory(kFirst);
  ASSERT_TRUE(store->drop(40).ok());
  EXPECT_FALSE(store->make_room(1).ok());
  sent.reset();
  EXPECT_TRUE(store->make_room(40).ok());
}

TEST_F(ShardStoreTest, GivesNothingThatIsDamaged) {
  ASSERT_TRUE(keep(*open(), kFirst, "abc").ok());
  const std::string path = folder_ + "/step-40/shard-0-of-2";
  const std::string whole = *read_file(path);
  const auto store = open();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    ASSERT_TRUE(write_file(path, changed).ok());
    EXPECT_EQ(disk_of(*store, kFirst), "none") << at;
    ASSERT_TRUE(write_file(path, whole.substr(0, at)).ok());
    EXPECT_EQ(disk_of(*store, kFirst), "none") << at;
  }
}

TEST_F(ShardStoreTest, SaysWhyItCannotKeep) {
  const auto store = open();
  ASSERT_TRUE(write_file(folder_ + "/step-40", "in the way").ok());
  const Status kept = keep(*store, kFirst, "abc");
  ASSERT_FALSE(kept.ok());
  EXPECT_EQ(kept.error().message,
            "cannot open the folder " + folder_ + "/step-40: Not a directory");
  EXPECT_EQ(memory_of(*store, kFirst), "none");
  ASSERT_TRUE(write_file(place_.path() + "/file", "").ok());
  EXPECT_FALSE(ShardStore::open(place_.path() + "/file", 1 * kMiB).ok());
}

}  // namespace
}  // namespace stint
