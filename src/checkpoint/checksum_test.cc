#include "checkpoint/checksum.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

// The check value of CRC-32/ISO-HDLC; python3 -c "import zlib; print(zlib.crc32(b'123456789'))".
TEST(Checksum, IsThatOfZlib) { EXPECT_EQ(checksum_of("123456789"), 3421780262U); }

TEST(Checksum, GoesOnBehindWhatCameBefore) {
  EXPECT_EQ(checksum_of("56789", checksum_of("1234")), checksum_of("123456789"));
  EXPECT_EQ(checksum_of(""), 0U);
}

}  // namespace
}  // namespace stint
