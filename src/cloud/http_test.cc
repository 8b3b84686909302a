#include "cloud/http.h"

#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>

#include "base/connection.h"
#include "base/process.h"

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

/// The answer of a server to these bytes.
std::string answer_to(const std::string& bytes) {
  const auto listener = Listener::on(kLoopback, 0);
  CHECK(listener.ok());
  const auto server = fork_child([&](int) {
    serve_http(*listener, [](const HttpRequest& request) {
      return HttpAnswer{.body = request.method + " " + request.path};
    });
    return 0;
  });
  CHECK(server.ok());
  const auto client = connect_to("127.0.0.1", listener->port(), 30 * kSecond);
  CHECK(client.ok());
  write_all(client->get(), bytes);
  std::string said;
  EXPECT_TRUE(read_to_end(client->get(), 30 * kSecond, said));
  kill_group(server->pid);
  return said;
}

TEST(Http, AServerAnswersAndCloses) {
  EXPECT_TRUE(answer_to("GET /a?b HTTP/1.1\r\nHost: a\r\n\r\n").ends_with("\r\n\r\nGET /a"));
  EXPECT_TRUE(answer_to("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(answer_to(std::string(kHttpRequestMax + 1, 'x')).starts_with("HTTP/1.1 400 "));
}

// Each byte comes in time, and the request never ends.
TEST(Http, AClientThatDripsBytesHoldsUpNobody) {
  const auto listener = Listener::on(kLoopback, 0);
  ASSERT_TRUE(listener.ok());
  const auto server = fork_child([&](int) {
    serve_http(
        *listener, [](const HttpRequest&) { return HttpAnswer{.body = "here"}; },
        50 * kMillisecond);
    return 0;
  });
  ASSERT_TRUE(server.ok());
  auto socket = connect_to(kLoopback, listener->port(), 30 * kSecond);
  ASSERT_TRUE(socket.ok());
  Connection slow(std::move(*socket), 30 * kSecond);
  std::thread drip([&] {
    while (slow.write("x")) ::usleep(1000);  // Until the server closes the connection.
  });
  const auto client = connect_to(kLoopback, listener->port(), 30 * kSecond);
  ASSERT_TRUE(client.ok());
  write_all(client->get(), "GET / HTTP/1.1\r\n\r\n");
  std::string said;
  EXPECT_TRUE(read_to_end(client->get(), 30 * kSecond, said));
  EXPECT_TRUE(said.ends_with("here")) << said;
  kill_group(server->pid);
  drip.join();
}

}  // namespace
}  // namespace stint
