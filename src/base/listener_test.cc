#include "base/listener.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/temporary_folder.h"

namespace stint {
namespace {

constexpr Seconds kPatience = 30 * kSecond;

TEST(Listener, TakesConnectionsOnLoopback) {
  const auto listener = Listener::on(kLoopback, 0);
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  EXPECT_GT(listener->port(), 1023);
  for (int i = 0; i < 3; ++i) {
    const auto client = connect_to("127.0.0.1", listener->port(), kPatience);
    ASSERT_TRUE(client.ok()) << client.error().message;
    const auto server = listener->accept();
    ASSERT_TRUE(server.ok());
    ASSERT_TRUE(write_all(client->get(), "hello\n"));
    EXPECT_EQ(read_line(server->get(), kPatience), "hello");
  }
}

TEST(Listener, ListensOnItsAddressOnly) {
  const auto listener = Listener::on("127.0.0.2", 0);
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  EXPECT_TRUE(connect_to("127.0.0.2", listener->port(), kPatience).ok());
  EXPECT_FALSE(connect_to(kLoopback, listener->port(), kPatience).ok());
  EXPECT_EQ(Listener::on("localhost", 0).error().message, "'localhost' is not an address");
  EXPECT_TRUE(is_address("10.77.0.2"));
  EXPECT_FALSE(is_address("10.77.0"));
}

TEST(Listener, APortIsTakenOnce) {
  const auto listener = Listener::on(kLoopback, 0);
  ASSERT_TRUE(listener.ok());
  const std::string port = std::to_string(listener->port());
  const auto local = Listener::on(kLoopback, listener->port());
  ASSERT_FALSE(local.ok());
  EXPECT_EQ(local.error().message,
            "cannot listen on 127.0.0.1:" + port + ": Address already in use");
}

// The address of a Unix socket holds 107 bytes; this folder's name alone has more.
TEST(Listener, TakesConnectionsInAFolderOfAnyLength) {
  const auto place = TemporaryFolder::make();
  ASSERT_TRUE(place.ok());
  const std::string folder = place->path() + "/" + std::string(150, 'x');
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  const auto listener = Listener::in_folder(folder, "s");
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  EXPECT_EQ(listener->port(), 0);
  const auto client = connect_in_folder(folder, "s");
  ASSERT_TRUE(client.ok()) << client.error().message;
  const Descriptor server = listener->try_accept();
  ASSERT_TRUE(write_all(client->get(), "one\n"));
  ASSERT_TRUE(write_all(client->get(), "two\n"));
  EXPECT_EQ(read_line(server.get(), kPatience), "one");  // Messages are kept apart.
  EXPECT_EQ(read_line(server.get(), kPatience), "two");
  EXPECT_FALSE(Listener::in_folder(folder, "s").ok());
}

TEST(Listener, NobodyThereIsAnError) {
  const auto folder = connect_in_folder("/nowhere", "s");
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().message, "cannot speak to /nowhere/s: No such file or directory");
  const auto port = free_loopback_port();
  ASSERT_TRUE(port.ok());
  const auto refused = connect_to("127.0.0.1", *port, kPatience);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "Connection refused");
  const auto nonsense = connect_to("localhost", *port, kPatience);
  ASSERT_FALSE(nonsense.ok());
  EXPECT_EQ(nonsense.error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(nonsense.error().message, "'localhost' is not an address");
}

TEST(Listener, WhatDoesNotListenTakesNothing) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  const auto client = Listener(std::move(pipe->from)).accept();
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.error().message, "cannot take connections: Socket operation on non-socket");
  EXPECT_LT(Listener(Descriptor()).try_accept().get(), 0);
}

TEST(Listener, AFreePortIsAPort) {
  const auto port = free_loopback_port();
  ASSERT_TRUE(port.ok());
  EXPECT_GT(*port, 1023);
  EXPECT_LT(*port, 65536);
}

}  // namespace
}  // namespace stint
