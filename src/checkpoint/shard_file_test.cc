#include "checkpoint/shard_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

// The check value of CRC-32/ISO-HDLC; python3 -c "import zlib; print(zlib.crc32(b'123456789'))".
TEST(Checksum, IsThatOfZlib) { EXPECT_EQ(checksum_of("123456789"), 3421780262U); }

TEST(Checksum, GoesOnBehindWhatCameBefore) {
  EXPECT_EQ(checksum_of("56789", checksum_of("1234")), checksum_of("123456789"));
  EXPECT_EQ(checksum_of(""), 0U);
}

class ShardFileTest : public testing::Test {
 protected:
  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  PrivateFolder folder_ = std::move(*PrivateFolder::make(place_.path() + "/step-1"));
  ShardName name_{.step = 1, .number = 0, .count = 2};
  std::string path_ = place_.path() + "/step-1/shard-0-of-2";
};

// zlib.crc32(b"123456789") = 3421780262 = 0xcbf43926; the lowest byte is first.
TEST_F(ShardFileTest, BeginsWithItsChecksumLowestByteFirst) {
  ASSERT_TRUE(write_shard(folder_, name_, "123456789", 0xcbf43926).ok());
  EXPECT_EQ(*read_file(path_),
            "\x26\x39\xf4\xcb"
            "123456789");
  const auto shard = open_shard(folder_, name_);
  ASSERT_TRUE(shard.has_value());
  EXPECT_EQ(shard->bytes, 9);
  EXPECT_EQ(shard->checksum, 0xcbf43926U);
  EXPECT_TRUE(is_undamaged(*shard));
  char middle[3];
  EXPECT_TRUE(read_shard(*shard, 3, middle, sizeof(middle)));
  EXPECT_EQ(std::string(middle, 3), "456");
  EXPECT_FALSE(read_shard(*shard, 7, middle, sizeof(middle)));
}

TEST_F(ShardFileTest, MayBeEmptyOrLong) {
  for (const std::size_t size : {0U, 1U, (1U << 20U) - 1, 1U << 20U, (1U << 21U) + 5}) {
    const std::string bytes(size, 'x');
    ASSERT_TRUE(write_shard(folder_, name_, bytes, checksum_of(bytes)).ok());
    const auto shard = open_shard(folder_, name_);
    ASSERT_TRUE(shard.has_value());
    EXPECT_EQ(shard->bytes, static_cast<std::int64_t>(size));
    EXPECT_TRUE(is_undamaged(*shard)) << size;
  }
}

TEST_F(ShardFileTest, TellsWhenAnyByteOfItChanged) {
  ASSERT_TRUE(write_shard(folder_, name_, "123456789", 0xcbf43926).ok());
  const std::string whole = *read_file(path_);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    ASSERT_TRUE(write_file(path_, changed).ok());
    EXPECT_FALSE(is_undamaged(*open_shard(folder_, name_))) << at;
  }
  for (std::size_t size = 0; size < 4; ++size) {
    ASSERT_TRUE(write_file(path_, whole.substr(0, size)).ok());
    EXPECT_FALSE(open_shard(folder_, name_).has_value());
  }
}

TEST(GenerationName, IsReadAsItIsWritten) {
  EXPECT_EQ(generation_name(120), "step-120");
  EXPECT_EQ(step_of("step-120"), 120);
  EXPECT_EQ(step_of("step-0"), 0);
  for (const char* other : {"", "step-", "step--1", "step-007", "step-1x", "step-+1", "stop-1",
                            "step-99999999999999999999", "step-1/..", ".."}) {
    EXPECT_FALSE(step_of(other).has_value()) << other;
  }
}

}  // namespace

}  // namespace stint
