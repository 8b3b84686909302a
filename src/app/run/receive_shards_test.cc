#include "app/run/receive_shards.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"
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
  auto output = make_pipe();
  ASSERT_TRUE(write_all(input->to.get(), secret + "\n"));
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const Status status =
        receive_shards({.folder = folder->path() + "/f", .input = input->from.get()},
                       [&](int port) { write_all(output->to.get(), std::to_string(port) + "\n"); });
    ::_exit(status.ok() ? 0 : 1);
  }
  output->to.close();
  const auto port = parse_int(read_line(output->from.get(), kMinute));
  ASSERT_TRUE(port.has_value());
  auto client =
      ReceiverClient::connect({.address = "127.0.0.1", .port = *port, .secret = secret}, kMinute);
  ASSERT_TRUE(client.ok()) << client.error().message;
  EXPECT_TRUE(client->put({.step = 1}, "abc").ok());
  EXPECT_EQ(**client->get({.step = 1}), "abc");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace stint
