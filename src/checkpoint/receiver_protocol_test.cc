#include "checkpoint/receiver_protocol.h"

#include <gtest/gtest.h>

#include "checkpoint/secret.h"

namespace stint {
namespace {

TEST(ReceiverRequest, IsReadAsItIsWritten) {
  for (const char* line : {"put 120 2 4 1048576 3421780262", "put 0 0 1 0 0",
                           "put 1000000000000000 65535 65536 68719476736 4294967295", "get 120 2 4",
                           "drop 120", "drop 0"}) {
    const auto request = parse_request(line);
    ASSERT_TRUE(request.ok()) << line;
    EXPECT_EQ(to_line(*request), std::string(line) + "\n");
  }
}

TEST(ReceiverRequest, HoldsItsNumbers) {
  const auto put = std::get<PutRequest>(*parse_request("put 120 2 4 1048576 3421780262"));
  EXPECT_EQ(put.shard, (ShardName{.step = 120, .number = 2, .count = 4}));
  EXPECT_EQ(put.bytes, 1048576);
  EXPECT_EQ(put.checksum, 3421780262U);
  EXPECT_EQ(std::get<GetRequest>(*parse_request("get 7 0 1")).shard.step, 7);
  EXPECT_EQ(std::get<DropRequest>(*parse_request("drop 9")).step, 9);
}

TEST(ReceiverRequest, IsOfPlainNumbersInTheirBoundsOnly) {
  for (const char* line : {"",
                           " ",
                           "put",
                           "get",
                           "drop",
                           "list",
                           "put 1 0 1 5",
                           "put 1 0 1 5 0 0",
                           "get 1 0",
                           "get 1 0 1 ",
                           " get 1 0 1",
                           "get  1 0 1",
                           "get -1 0 1",
                           "get +1 0 1",
                           "get 1.0 0 1",
                           "get 1e3 0 1",
                           "get 0x1 0 1",
                           "get 01 0 1",
                           "get 1 1 1",
                           "get 1 2 1",
                           "get 1 0 0",
                           "get 1 -1 1",
                           "get 1 0 65537",
                           "get 1000000000000001 0 1",
                           "get 99999999999999999999999 0 1",
                           "get ../x 0 1",
                           "get 1 0 1\r",
                           "drop -1",
                           "drop",
                           "drop 1 2",
                           "drop ..",
                           "DROP 1",
                           "put 1 0 1 -5 0",
                           "put 1 0 1 68719476737 0",
                           "put 1 0 1 5 4294967296",
                           "put 1 0 1 5 -1",
                           "put 1 0 1 five 0"}) {
    const auto request = parse_request(line);
    ASSERT_FALSE(request.ok()) << line;
    EXPECT_EQ(request.error().kind, ErrorKind::kBadInput);
  }
  EXPECT_FALSE(parse_request(std::string_view("get 1 0 1\0", 10)).ok());
}

TEST(ReceiverRequest, SaysWhatIsWrong) {
  EXPECT_EQ(parse_request("get 1\x1b 0 1").error().message, "'get 1? 0 1' is not a request");
  EXPECT_EQ(parse_request("put 1 0 1 68719476737 0").error().message,
            "a shard must have 0 bytes to 64 GiB");
}

TEST(Greeting, HoldsANonce) {
  const std::string nonce = "0123456789abcdef0123456789abcdef";
  EXPECT_EQ(greeting_line(nonce), "stint.receiver/2 " + nonce + "\n");
  EXPECT_EQ(*parse_greeting("stint.receiver/2 " + nonce), nonce);
  for (const std::string& line :
       {std::string(), std::string("stint.receiver/2"), "stint.receiver/2 " + nonce + " ",
        "stint.receiver/2 x" + nonce.substr(1), "stint.receiver/2 " + nonce.substr(1)}) {
    EXPECT_EQ(parse_greeting(line).error().message, "is not a receiver of checkpoints") << line;
  }
  EXPECT_EQ(parse_greeting("stint.receiver/1 " + nonce).error().message,
            "speaks stint.receiver/1, and this is stint.receiver/2: use the same version of stint "
            "on all machines");
}

TEST(ClientHello, IsReadAsItIsWritten) {
  const ClientHello hello{.nonce = std::string(32, 'a'), .proof = std::string(64, 'b')};
  std::string line = to_line(hello);
  EXPECT_EQ(line.size(), kClientHelloBytes);
  line.pop_back();
  EXPECT_EQ(parse_client_hello(line)->nonce, hello.nonce);
  EXPECT_EQ(parse_client_hello(line)->proof, hello.proof);
  EXPECT_FALSE(parse_client_hello("").has_value());
  EXPECT_FALSE(parse_client_hello(line + "b").has_value());
  EXPECT_FALSE(parse_client_hello(line + " ").has_value());
  line[15] = '1';
  EXPECT_FALSE(parse_client_hello(line).has_value());
}

// The key is that of secret_test.cc; hmac.new(key, (5).to_bytes(8, "big") +
// (4).to_bytes(4, "big") + b"abc\n", "sha256").hexdigest()
TEST(Frame, IsAuthenticatedAsPythonDoes) {
  const std::string secret = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
  const HmacSha256 keyed(session_key(secret, Role::kClient,
                                     {.receiver = "0123456789abcdef0123456789abcdef",
                                      .client = "fedcba9876543210fedcba9876543210"}));
  EXPECT_EQ(to_hex(frame_hmac(keyed, 5, "abc\n")),
            "279de02a7591e33bec1d4ff3ef6eac611249b285a43c440486c41c567170fc64");
  EXPECT_NE(frame_hmac(keyed, 6, "abc\n"), frame_hmac(keyed, 5, "abc\n"));
  EXPECT_EQ(to_hex(std::string_view(frame_head(0x01020304).data(), 4)), "01020304");
  for (const std::size_t bytes : {0U, 1U, 255U, 1U << 20U, 0xffffffffU}) {
    EXPECT_EQ(frame_bytes(frame_head(bytes)), bytes);
  }
}

TEST(HereAnswer, IsReadAsItIsWritten) {
  const auto here = parse_here("here 12 34");
  ASSERT_TRUE(here.ok());
  EXPECT_EQ(to_line(*here), "here 12 34\n");
  for (const char* line : {"", "here", "here 1", "here 1 2 3", "here -1 2", "here 1 4294967296",
                           "here 68719476737 0", "missing", "there 1 2"}) {
    EXPECT_FALSE(parse_here(line).ok()) << line;
  }
}

}  // namespace
}  // namespace stint
