#include "checkpoint/secret.h"

#include <gtest/gtest.h>

#include "base/sha256.h"

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

// hmac.new(bytes(range(32)), b"stint.receiver/2 client proof 0123456789abcdef0123456789abcdef "
//          b"fedcba9876543210fedcba9876543210", "sha256").hexdigest(), and so on.
TEST(Secret, IsProvenAsPythonDoes) {
  const std::string secret = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
  const Nonces nonces{.receiver = "0123456789abcdef0123456789abcdef",
                      .client = "fedcba9876543210fedcba9876543210"};
  EXPECT_EQ(proof_of(secret, Role::kClient, nonces),
            "3cb728538c2740a2c9e95d49df0464acd201280666df0798fd189903037689a5");
  EXPECT_EQ(proof_of(secret, Role::kReceiver, nonces),
            "d15a09b8153c435cfe5452f6f3ad0b5ccec69df78e634d7963947d4c61a13dae");
  EXPECT_EQ(to_hex(session_key(secret, Role::kClient, nonces)),
            "86284c242b7ac6348228256a5326a41e5667c00acc33d0e8ffd99613cb9ad1e5");
  EXPECT_EQ(to_hex(session_key(secret, Role::kReceiver, nonces)),
            "6e151ac90c89b44895cf499a028fec179072142a1c5034adb689beced7817b21");
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
