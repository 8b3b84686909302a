#include "measure/trace/gzip_stream.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

// printf 'stint stint stint\n' | gzip -9n
constexpr unsigned char kPacked[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                                     0x2b, 0x2e, 0xc9, 0xcc, 0x2b, 0x51, 0x28, 0x46, 0x90, 0x5c,
                                     0x00, 0x9f, 0x55, 0x5d, 0x35, 0x12, 0x00, 0x00, 0x00};
constexpr std::string_view kText = "stint stint stint\n";

std::string packed() { return {reinterpret_cast<const char*>(kPacked), sizeof kPacked}; }

/// The text that comes out of chunks of `size` bytes, or the error.
std::string unpacked(const std::string& bytes, std::size_t size) {
  std::string text;
  GzipStream stream("t.gz", [&](std::string_view chunk) {
    text.append(chunk);
    return Status();
  });
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    const Status status = stream.push(std::string(bytes.substr(i, size)));
    if (!status.ok()) return status.error().message;
  }
  const Status status = stream.finish();
  return status.ok() ? text : status.error().message;
}

TEST(GzipStream, GivesTheSameTextWhateverTheChunks) {
  for (std::size_t size = 1; size <= sizeof kPacked; ++size) {
    EXPECT_EQ(unpacked(packed(), size), kText) << size;
    EXPECT_EQ(unpacked(std::string(kText), size), kText) << size;
  }
}

TEST(GzipStream, ReadsMembersThatFollowEachOther) {
  EXPECT_EQ(unpacked(packed() + packed(), 7), std::string(kText) + std::string(kText));
}

TEST(GzipStream, PassesOnWhatIsTooShortToTell) {
  EXPECT_EQ(unpacked("", 1), "");
  EXPECT_EQ(unpacked("[", 1), "[");
}

TEST(GzipStream, SaysWhereItBreaksOff) {
  for (std::size_t size = 2; size < sizeof kPacked; ++size) {
    EXPECT_EQ(unpacked(packed().substr(0, size), 5),
              "t.gz: the gzip stream ends at byte " + std::to_string(size) +
                  "; it is truncated, so copy the whole file");
  }
}

TEST(GzipStream, SaysWhenItIsDamaged) {
  std::string bytes = packed();
  bytes[bytes.size() - 8] = static_cast<char>(bytes[bytes.size() - 8] ^ 1);  // Of the checksum.
  EXPECT_NE(unpacked(bytes, 100).find("damaged gzip (incorrect data check)"), std::string::npos);
}

TEST(GzipStream, StopsWhereTheSinkFails) {
  GzipStream stream("t", [](std::string_view) -> Status { return failed("enough"); });
  EXPECT_FALSE(stream.push("text").ok());
}

}  // namespace
}  // namespace stint
