#include "checkpoint/receiver_protocol.h"

#include <gtest/gtest.h>

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
