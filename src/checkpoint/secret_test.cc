#include "checkpoint/secret.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(Secret, IsAnotherEachTime) {
  const std::string secret = make_secret();
  EXPECT_TRUE(is_secret(secret)) << secret;
  EXPECT_NE(secret, make_secret());
  EXPECT_EQ(random_hex(16).size(), 32U);
}

TEST(Secret, HasItsForm) {
  EXPECT_FALSE(is_secret(""));
  EXPECT_FALSE(is_secret(std::string(63, 'a')));
  EXPECT_FALSE(is_secret(std::string(65, 'a')));
  EXPECT_FALSE(is_secret(std::string(64, 'g')));
  EXPECT_FALSE(is_secret(std::string(64, 'A')));
}

// hmac.new(bytes(range(32)), b"0123456789abcdef0123456789abcdef", "sha256").hexdigest()
TEST(Secret, IsProvenAsPythonDoes) {
  const std::string secret = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
  EXPECT_EQ(proof_of(secret, "0123456789abcdef0123456789abcdef"),
            "66fc66f2575a06af5f464345a49885beccb7cf1f922c7d126d3fe36c31683e0c");
}

TEST(SameText, TellsTextsApart) {
  EXPECT_TRUE(same_text("", ""));
  EXPECT_TRUE(same_text("abc", "abc"));
  EXPECT_FALSE(same_text("abc", "abd"));
  EXPECT_FALSE(same_text("abc", "ab"));
  EXPECT_FALSE(same_text("\x80", "a"));
}

}  // namespace
}  // namespace stint
