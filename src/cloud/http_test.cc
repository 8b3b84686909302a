#include "cloud/http.h"

#include <gtest/gtest.h>
#include <string>

namespace stint {
namespace {

TEST(Http, ReadsARequest) {
  const auto request = parse_http(
      "PUT /latest/api/token?x=1 HTTP/1.1\r\nHost: a\r\nX-Aws-Ec2-Metadata-Token-Ttl-Seconds:  60 "
      "\r\n\r\n");
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->method, "PUT");
  EXPECT_EQ(request->path, "/latest/api/token");
  EXPECT_EQ(request->header("x-aws-ec2-metadata-token-ttl-seconds"), "60");
  EXPECT_FALSE(request->header("absent").has_value());
}

TEST(Http, RefusesWhatIsNoRequest) {
  for (const char* bytes : {"", "GET / HTTP/1.1\r\n", "GET /\r\n\r\n", "GET x HTTP/1.1\r\n\r\n",
                            "GET / HTTP/1.1\r\nno colon\r\n\r\n", "\r\n\r\n"}) {
    EXPECT_FALSE(parse_http(bytes).has_value()) << bytes;
  }
  EXPECT_FALSE(parse_http(std::string(20000, 'a') + "\r\n\r\n").has_value());
}

TEST(Http, AnAnswerSaysItsLengthAndCloses) {
  const std::string bytes = to_bytes({.status = 404, .body = "no", .headers = {{"A", "b"}}});
  EXPECT_EQ(bytes,
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n"
            "Connection: close\r\nA: b\r\n\r\nno");
}

}  // namespace
}  // namespace stint
