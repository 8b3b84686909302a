#include "app/run/receive_shards.h"

#include <csignal>
#include <gtest/gtest.h>

#include "base/descriptor.h"
#include "base/process.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "checkpoint/receiver_client.h"
#include "checkpoint/secret.h"

namespace stint {
namespace {

TEST(ReceiveShards, NeedsTheSecretOfTheRun) {
  const auto folder = TemporaryFolder::make();
  for (const char* said : {"\n", "secret\n", ""}) {
    auto pipe = make_pipe();
    ASSERT_TRUE(write_all(pipe->to.get(), said));
    pipe->to.close();
    const Status status = receive_shards(
        {.folder = folder->path() + "/f", .input = pipe->from.get()}, [](int) { FAIL(); });
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message, "the secret of the run must be 64 hexadecimal digits");
  }
}

TEST(ReceiveShards, TellsItsPortAndServes) {
  const auto folder = TemporaryFolder::make();
  const std::string secret = make_secret();
  const auto input = make_pipe();
  ASSERT_TRUE(write_all(input->to.get(), secret + "\n"));
  const auto serve = [&](int report) {
    const Status status =
        receive_shards({.folder = folder->path() + "/f", .input = input->from.get()},
                       [&](int port) { write_all(report, std::to_string(port) + "\n"); });
    return status.ok() ? 0 : 1;
  };
  const auto child = fork_child(serve, {.death_signal = SIGKILL});
  ASSERT_TRUE(child.ok());
  const auto port = parse_int(read_line(child->report.get(), 60 * kSecond));
  ASSERT_TRUE(port.has_value());
  auto client =
      ReceiverClient::connect({.address = "127.0.0.1", .port = *port, .secret = secret}, kMinute);
  ASSERT_TRUE(client.ok()) << client.error().message;
  EXPECT_TRUE(client->put({.step = 1}, "abc").ok());
  EXPECT_EQ(**client->get({.step = 1}), "abc");
  kill_group(child->pid);
}

}  // namespace
}  // namespace stint
