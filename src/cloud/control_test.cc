#include "cloud/control.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace stint {
namespace {

namespace fs = std::filesystem;

// The address of a Unix socket holds 107 bytes; this folder's name alone has more.
TEST(Control, MessagesAndFilesPassThroughAFolderOfAnyLength) {
  const fs::path folder = fs::path(testing::TempDir()) /
                          (std::to_string(::getpid()) + "control_test" + std::string(150, 'x'));
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto listener = listen_in(folder);
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  const auto client = connect_in(folder);
  ASSERT_TRUE(client.ok()) << client.error().message;
  const Descriptor server(::accept(listener->get(), nullptr, nullptr));

  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  Json json;
  json.add("ask", "list");
  ASSERT_TRUE(send_message(client->get(), json, pipe->to.get()).ok());
  const auto message = receive_message(server.get(), kSecond);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->json, json);
  EXPECT_TRUE(write_all(message->attached.get(), "hello\n"));
  EXPECT_EQ(read_line(pipe->from.get(), kSecond), "hello");
  fs::remove_all(folder);
}

// 64 000 bytes are a piece: one less, one piece, one more, and three pieces; two quotes count too.
TEST(Control, MessagesOfAnyLengthArrive) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  const Descriptor one(ends[0]);
  const Descriptor other(ends[1]);
  for (const std::size_t length : {0U, 63997U, 63998U, 63999U, 191998U}) {
    const Json json(std::string(length, 'x'));
    ASSERT_TRUE(send_message(one.get(), json).ok()) << length;
    const auto message = receive_message(other.get(), kSecond);
    ASSERT_TRUE(message.ok()) << length << ": " << message.error().message;
    EXPECT_EQ(message->json, json) << length;
  }
}

TEST(Control, ErrorsKeepTheirKind) {
  const auto error = error_in(error_message(unavailable("there is no room")));
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind, ErrorKind::kUnavailable);
  EXPECT_EQ(error->message, "there is no room");
  EXPECT_FALSE(error_in(Json()).has_value());
}

TEST(Control, NobodyThereIsAnError) {
  const auto client = connect_in("/nowhere");
  ASSERT_FALSE(client.ok());
  EXPECT_NE(client.error().message.find("cannot speak to /nowhere"), std::string::npos);
}

TEST(Control, SilenceAndNonsenseAreErrors) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  Descriptor one(ends[0]);
  const Descriptor other(ends[1]);
  EXPECT_FALSE(receive_message(other.get(), 10 * kMillisecond).ok());
  ASSERT_TRUE(write_all(one.get(), "nonsense"));
  EXPECT_FALSE(receive_message(other.get(), kSecond).ok());
  one.close();
  EXPECT_EQ(receive_message(other.get(), kSecond).error().message, "the other side is gone");
}

}  // namespace
}  // namespace stint
