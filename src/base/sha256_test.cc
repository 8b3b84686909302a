#include "base/sha256.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

// Examples of FIPS 180-4 (NIST's "SHA256.pdf") and the empty text of its validation suite.
TEST(Sha256, MatchesTheStandardsExamples) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(to_hex(sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// RFC 4231, test cases 1, 2, 3, 4, 6 and 7: short and long keys, short and long texts.
TEST(HmacSha256, MatchesTheExamplesOfRfc4231) {
  EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\xaa'), std::string(50, '\xdd'))),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  std::string counting;
  for (char c = 1; c <= 25; ++c) counting += c;
  EXPECT_EQ(to_hex(hmac_sha256(counting, std::string(50, '\xcd'))),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  const std::string long_key(131, '\xaa');
  EXPECT_EQ(to_hex(hmac_sha256(long_key, "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(to_hex(hmac_sha256(long_key,
                               "This is a test using a larger than block-size key and a larger "
                               "than block-size data. The key needs to be hashed before being "
                               "used by the HMAC algorithm.")),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

// The length of the text and the end of its last block meet in every way.
TEST(Sha256, TellsTextsOfEveryLengthApart) {
  std::string text;
  Digest before = sha256(text);
  for (int i = 0; i < 200; ++i) {
    text += 'x';
    const Digest digest = sha256(text);
    EXPECT_NE(digest, before) << i;
    before = digest;
  }
  // printf 'x%.0s' {1..200} | sha256sum
  EXPECT_EQ(to_hex(before), "aa20c23e3201834050679e1d88941b9a6fed0557c9a705cb2c315e2e63fd486d");
}

// Pieces of every length, with the extensions of the processor and without.
TEST(Sha256, IsTheSameInPiecesAndOnEveryProcessor) {
  std::string text;
  for (std::size_t i = 0; i < 1000; ++i) text += static_cast<char>(i * i >> 3U);
  const Digest whole = sha256(text);
  for (const Instructions instructions : {Instructions::kBest, Instructions::kPortable}) {
    for (const std::size_t piece : {1U, 7U, 63U, 64U, 65U, 128U, 200U, 1000U}) {
      Sha256 hash(instructions);
      for (std::size_t at = 0; at < text.size(); at += piece) hash.add(text.substr(at, piece));
      EXPECT_EQ(hash.digest(), whole) << piece;
    }
    for (std::size_t length = 0; length < 200; ++length) {
      Sha256 hash(instructions);
      hash.add(text.substr(0, length));
      EXPECT_EQ(hash.digest(), sha256(text.substr(0, length))) << length;
    }
  }
}

TEST(HmacSha256, ContinuesFromACopy) {
  HmacSha256 keyed("Jefe");
  HmacSha256 copy = keyed;
  copy.add("what do ya want ");
  copy.add("for nothing?");
  EXPECT_EQ(copy.digest(), hmac_sha256("Jefe", "what do ya want for nothing?"));
  EXPECT_EQ(keyed.digest(), hmac_sha256("Jefe", ""));
}

TEST(Hex, HasTwoDigitsAByte) { EXPECT_EQ(to_hex(std::string_view("\x00\x0f\xff", 3)), "000fff"); }

}  // namespace
}  // namespace stint
