#include "provider/ssh/ssh_command.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/run_command.h"
#include "base/sha256.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

const SshHost kHost{.name = "box", .address = "10.0.0.1", .user = "me", .port = 2222};

TEST(SshCommand, ChecksKeysAndAsksForNothing) {
  const Words words = ssh_words({.control = "/c", .options = {"-F", "file"}}, kHost, "echo 'x'");
  const auto has = [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  EXPECT_EQ(words[0], "ssh");
  EXPECT_EQ(words[2], "file");
  EXPECT_TRUE(has("BatchMode=yes"));
  EXPECT_TRUE(has("StrictHostKeyChecking=yes"));
  EXPECT_TRUE(has("ControlPath=/c/%C"));
  EXPECT_TRUE(has("2222"));
  EXPECT_TRUE(has("me"));
  ASSERT_GE(words.size(), 3U);
  EXPECT_EQ(words[words.size() - 3], "--");
  EXPECT_EQ(words[words.size() - 2], "10.0.0.1");
  EXPECT_EQ(words.back(), "exec /bin/sh -c 'echo '\\''x'\\'''");
}

TEST(SshCommand, TellsFailuresApart) {
  // As OpenSSH 9.2 prints them.
  EXPECT_EQ(ssh_failure(255,
                        "No ED25519 host key is known for x and you have requested strict "
                        "checking.\r\nHost key verification failed.\r\n"),
            SshFailure::kHostKeyUnknown);
  EXPECT_EQ(ssh_failure(255,
                        "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nx\n"
                        "Host key verification failed.\n"),
            SshFailure::kHostKeyChanged);
  EXPECT_EQ(ssh_failure(255, "me@x: Permission denied (publickey)."), SshFailure::kPermission);
  EXPECT_EQ(ssh_failure(255, "ssh: connect to host x port 22: No route to host"),
            SshFailure::kUnreachable);
  EXPECT_EQ(ssh_failure(255, ""), SshFailure::kUnreachable);
  EXPECT_EQ(ssh_failure(127, "/bin/sh: 1: exec: x: not found"), SshFailure::kNoProgram);
  EXPECT_EQ(ssh_failure(126, "/bin/sh: 1: exec: x: Exec format error"), SshFailure::kArchitecture);
  EXPECT_EQ(ssh_failure(1, "cat: write error: No space left on device"), SshFailure::kDiskFull);
  EXPECT_EQ(ssh_failure(1, "mkdir: Permission denied"), SshFailure::kOther);
}

TEST(SshCommand, AnErrorSaysWhatToDo) {
  const auto error = [](SshFailure failure) { return ssh_error(kHost, failure, "a\nb\x1b\n"); };
  EXPECT_EQ(error(SshFailure::kHostKeyUnknown),
            "the host key of box is not known; check it with 'ssh 10.0.0.1'");
  EXPECT_EQ(error(SshFailure::kUnreachable), "box cannot be reached (b?); check 'ssh 10.0.0.1'");
  EXPECT_EQ(ssh_error(kHost, SshFailure::kOther, ""), "stint cannot be started on box");
  EXPECT_TRUE(may_pass(SshFailure::kUnreachable));
  EXPECT_FALSE(may_pass(SshFailure::kHostKeyChanged));
  EXPECT_FALSE(may_pass(SshFailure::kDiskFull));
}

TEST(SshCommand, AnUnreachableHostIsToldByTheRealClient) {
  const auto folder = TemporaryFolder::make();
  // Nobody listens on the port.
  const SshHost nobody{.name = "127.0.0.1", .port = 1};
  const Status ran = run_command(
      ssh_words({.control = folder->path(), .options = {"-F", "none"}}, nobody, "true"), kMinute);
  ASSERT_FALSE(ran.ok());
  if (ran.error().message.find("No such file") != std::string::npos) {
    GTEST_SKIP() << "skipped: there is no ssh";
  }
  EXPECT_NE(ran.error().message.find("Connection refused"), std::string::npos)
      << ran.error().message;
}

/// Runs a script in a home folder; its exit code and output.
std::pair<int, std::string> run_in(const std::string& home, const std::string& script, int in = 0) {
  auto out = make_pipe();
  const auto pid = start_process({.words = {"/bin/sh", "-c", script},
                                  .variables = {"HOME=" + home},
                                  .in = in,
                                  .out = out->to.get(),
                                  .err = out->to.get()});
  out->to.close();
  std::string said;
  read_to_end(out->from.get(), kMinute, said);
  return {wait_for_exit(*pid), said};
}

TEST(SshCommand, CopiesTheProgramWholeOrNotAtAll) {
  const auto folder = TemporaryFolder::make();
  const std::string home = folder->path() + "/a home";
  ASSERT_EQ(run_in(home, "mkdir \"$HOME\"").first, 0);
  const std::string program = "#!/bin/sh\necho \"$@ in $PWD with $A\"\n";
  const std::string hash = to_hex(sha256(program));
  EXPECT_EQ(run_in(home, ssh_look_script(hash)).second.find("there"), std::string::npos);
  const Command agent{.words = {"stint", "agent", "it's"}, .variables = {"A=b c"}, .folder = "/"};
  EXPECT_EQ(run_in(home, ssh_run_script(hash, agent)).first, 127);
  const std::string source = folder->path() + "/program";
  ASSERT_TRUE(write_file(source, program.substr(1)).ok());
  auto file = open_input(source);
  EXPECT_NE(run_in(home, ssh_copy_script(hash), file->get()).first, 0);
  EXPECT_EQ(run_in(home, "ls -A \"$HOME/.cache/stint\"").second, "");
  ASSERT_TRUE(write_file(source, program).ok());
  file = open_input(source);
  const auto copied = run_in(home, ssh_copy_script(hash), file->get());
  EXPECT_EQ(copied.first, 0) << copied.second;
  EXPECT_TRUE(run_in(home, ssh_look_script(hash)).second.ends_with("\nthere\n"));
  EXPECT_EQ(run_in(home, ssh_run_script(hash, agent)).second, "agent it's in / with b c\n");
  EXPECT_EQ(run_in(home, ssh_run_script(hash, {.words = {"echo", "$HOME"}})).second, "$HOME\n");
}

}  // namespace
}  // namespace stint
