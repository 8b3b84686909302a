#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "cli/verbs/verb_list.h"
#include "run/run_fixture.h"

namespace stint::cli {
namespace {

using Options = std::map<std::string, std::vector<std::string>>;

class RunVerbTest : public testing::Test {
 protected:
  ExitCode code_of(Options options, std::vector<std::string> command = {"train"}) {
    Invocation invocation{.options = std::move(options),
                          .arguments = std::move(command),
                          .out = std::tmpfile(),
                          .err = std::tmpfile()};
    invocation.environment.state_folder = place_.path();
    invocation.environment.clock = std::make_shared<FixedClock>(Seconds{});
    const ExitCode code = run_verb().run(invocation);
    std::rewind(invocation.err);
    char buffer[4096];
    err_ = std::string(buffer, std::fread(buffer, 1, sizeof(buffer), invocation.err));
    std::fclose(invocation.out);
    std::fclose(invocation.err);
    return code;
  }

  static Options dry(const Options& more = {}) {
    Options options = {{"--cluster", {"2x local.large:spot"}},
                       {"--job", {"paced-5mb"}},
                       {"--steps", {"60"}},
                       {"--batch", {"96"}},
                       {"--dry-run", {}}};
    for (const auto& entry : more) options[entry.first] = entry.second;
    return options;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string err_;
};

TEST_F(RunVerbTest, ADryRunSaysWhatWouldHappenAndStartsNothing) {
  EXPECT_EQ(code_of(dry({{"--deadline", {"10min"}}})), kExitOk);
  EXPECT_NE(
      err_.find("Run paced-5mb-1: about 60 steps with the script's own batch on 2x local.large "
                "spot. Expected: "),
      std::string::npos)
      << err_;
  EXPECT_NE(err_.find("P(deadline of 10 min) "), std::string::npos) << err_;
  EXPECT_TRUE(std::filesystem::is_empty(place_.path()));
}

TEST_F(RunVerbTest, ACommandOfAFileIsShownAndNeedsConsent) {
  const std::string job = place_.path() + "/mine.json";
  ASSERT_TRUE(write_file(job, R"({"schema": "stint.job/1", "name": "mine",
    "gradient_bytes": "8 MB", "command": ["sh", "-c", "touch x"],
    "compute": [{"device": "Local-1x", "batch_per_worker": 32, "forward": {"median": "90 ms"},
      "backward": {"median": "90 ms"}, "update": {"median": "1 ms"}}]})")
                  .ok());
  Options options = dry({{"--job", {job}}});
  EXPECT_EQ(code_of(options, {}), kExitOk);
  EXPECT_NE(err_.find("\nCommand, from " + job + ": sh -c 'touch x'\n"), std::string::npos) << err_;
  options.erase("--dry-run");
  EXPECT_EQ(code_of(options, {}), kExitUsage);
  EXPECT_NE(err_.find("mine.json holds the command sh -c 'touch x'. Add --yes"), std::string::npos)
      << err_;
  EXPECT_FALSE(std::filesystem::exists(place_.path() + "/runs"));
}

TEST_F(RunVerbTest, SaysWhichMachinesAreForCheckpoints) {
  EXPECT_EQ(code_of(dry({{"--checkpoints", {"tier"}}, {"--receivers", {"2"}}})), kExitOk);
  EXPECT_NE(err_.find("2x local.cpu on-demand for checkpoints"), std::string::npos) << err_;
}

TEST_F(RunVerbTest, WrongFlagsAreUsageErrors) {
  for (const Options& wrong :
       {Options{{"--steps", {"0"}}}, Options{{"--steps", {"many"}}}, Options{{"--batch", {"-1"}}},
        Options{{"--seed", {"x"}}}, Options{{"--trace-speed", {"0"}}},
        Options{{"--receivers", {"0"}}}, Options{{"--deadline", {"60"}}},
        Options{{"--deadline", {"-1s"}}}, Options{{"--budget", {"1"}}},
        Options{{"--notice", {"-1s"}}}, Options{{"--tick", {"0s"}}},
        Options{{"--save-every", {"soon"}}}, Options{{"--life", {"forever"}}},
        Options{{"--expect", {"trace:x"}}}, Options{{"--plan", {"1"}}},
        Options{{"--name", {"../x"}}}, Options{{"--cluster", {"2x g4dn.xlarge"}}}}) {
    EXPECT_EQ(code_of(dry(wrong)), kExitUsage) << wrong.begin()->first << err_;
    EXPECT_EQ(err_.rfind("stint run: ", 0), 0U) << err_;
  }
  EXPECT_EQ(code_of(dry(), {}), kExitUsage);  // No command.
  EXPECT_TRUE(std::filesystem::is_empty(place_.path()));
}

TEST_F(RunVerbTest, FilesThatAreMissingAreBadInput) {
  EXPECT_EQ(code_of(dry({{"--job", {"no-such-job"}}})), kExitBadInput);
  EXPECT_EQ(code_of(dry({{"--life", {"trace:no-such-file"}}})), kExitBadInput);
  EXPECT_EQ(code_of({{"--plan", {"no-such-file"}}}), kExitBadInput);
}

TEST_F(RunVerbTest, OnlyWhatIsThereAndNotTrainedIsResumed) {
  EXPECT_EQ(code_of({{"--resume", {"small"}}}, {}), kExitUsage);
  write_small_run(place_.path() + "/runs/small", small_record(), small_events());
  EXPECT_EQ(code_of({{"--resume", {"small"}}}, {}), kExitUsage);
  EXPECT_NE(err_.find("the run small is complete"), std::string::npos) << err_;
  EXPECT_EQ(code_of({{"--resume", {"../small"}}}, {}), kExitUsage);
}

}  // namespace
}  // namespace stint::cli
