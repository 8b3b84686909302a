#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "cli/verbs/verb_list.h"
#include "run/run_fixture.h"

namespace stint::cli {
namespace {

/// The exit code with these options, none of which let it begin.
ExitCode code_with(const std::map<std::string, std::vector<std::string>>& options) {
  Invocation invocation{.options = options};
  invocation.err = std::fopen("/dev/null", "w");
  const ExitCode code = receive_verb().run(invocation);
  std::fclose(invocation.err);
  return code;
}

TEST(ReceiveVerb, EndsWithTheErrorsCode) {
  EXPECT_EQ(code_with({}), kExitUsage);
  EXPECT_EQ(code_with({{"--folder", {"f"}}}), kExitUsage);
  for (const char* port : {"", "-1", "65536", "http", "1.5"}) {
    EXPECT_EQ(code_with({{"--folder", {"f"}}, {"--port", {port}}}), kExitUsage) << port;
  }
  for (const char* address : {"", "0.0.0.0", "localhost"}) {
    EXPECT_EQ(code_with({{"--folder", {"f"}}, {"--port", {"0"}}, {"--address", {address}}}),
              kExitUsage)
        << address;
  }
  for (const char* memory : {"", "0 GiB", "4", "-1 GiB", "much"}) {
    EXPECT_EQ(code_with({{"--folder", {"f"}}, {"--port", {"0"}}, {"--memory", {memory}}}),
              kExitUsage)
        << memory;
  }
}

class RunWatchVerbsTest : public testing::Test {
 protected:
  ExitCode code_of(const std::string& path, std::vector<std::string> arguments,
                   std::map<std::string, std::vector<std::string>> options = {}) {
    Invocation invocation{.options = std::move(options),
                          .arguments = std::move(arguments),
                          .out = std::tmpfile(),
                          .err = std::tmpfile()};
    invocation.out_terminal.width = 0;
    invocation.environment.state_folder = place_.path();
    invocation.environment.clock = std::make_shared<FixedClock>(2000 * kSecond);
    ExitCode code = kExitFailed;
    for (const Verb& verb : run_watch_verbs()) {
      if (verb.path == path) code = verb.run(invocation);
    }
    out_ = text_of(invocation.out);
    err_ = text_of(invocation.err);
    return code;
  }

  static std::string text_of(std::FILE* file) {
    std::rewind(file);
    std::string text(100'000, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
  }

  void add_small_run(std::size_t events = 99) {
    std::vector<RunEvent> some = small_events();
    some.resize(std::min(events, some.size()));
    write_small_run(place_.path() + "/runs/small", small_record(), some);
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string out_;
  std::string err_;
};

TEST_F(RunWatchVerbsTest, WithoutRunsThereIsNothingToShow) {
  EXPECT_EQ(code_of("status", {}), kExitOk);
  EXPECT_EQ(out_, "");
  EXPECT_NE(err_.find("No runs yet."), std::string::npos);
  EXPECT_EQ(code_of("status", {}, {{"--output", {"json"}}}), kExitOk);
  EXPECT_NE(out_.find("\"runs\": []"), std::string::npos) << out_;
  for (const char* verb : {"watch", "report", "stop"}) {
    EXPECT_EQ(code_of(verb, {}), kExitUsage) << verb;
    EXPECT_NE(err_.find("there are no runs yet"), std::string::npos) << err_;
  }
}

TEST_F(RunWatchVerbsTest, UnknownAndBadNamesAreUsageErrors) {
  add_small_run();
  for (const char* verb : {"status", "watch", "report", "stop"}) {
    for (const char* name : {"nix", "..", "../small", "a b", "-x", "'", "a\nb"}) {
      EXPECT_EQ(code_of(verb, {name}), kExitUsage) << verb << name;
      EXPECT_EQ(err_.rfind(std::string("stint ") + verb + ": ", 0), 0U) << err_;
      EXPECT_EQ(err_.find('\n'), err_.size() - 1) << err_;  // One line, whatever the name.
    }
  }
}

TEST_F(RunWatchVerbsTest, StatusListsOrShowsOne) {
  add_small_run();
  EXPECT_EQ(code_of("status", {}), kExitOk);
  EXPECT_NE(out_.find("small"), std::string::npos);
  EXPECT_EQ(out_.find("vm1"), std::string::npos);
  EXPECT_EQ(code_of("status", {"small"}), kExitOk);
  EXPECT_NE(out_.find("trained: all 20 steps are trained and saved"), std::string::npos) << out_;
}

TEST_F(RunWatchVerbsTest, WatchEndsWhereNobodyRunsIt) {
  add_small_run(8);
  EXPECT_EQ(code_of("watch", {}), kExitOk);
  EXPECT_NE(out_.find("halted"), std::string::npos);
  EXPECT_NE(err_.find("stint run --resume small"), std::string::npos) << err_;
}

// Ten events, each tenth of the steps that is seen, and where it stands; nothing moves the cursor.
TEST_F(RunWatchVerbsTest, WatchPrintsPlainLinesToAPipe) {
  add_small_run();
  EXPECT_EQ(code_of("watch", {}), kExitOk);
  EXPECT_EQ(out_.rfind("small  trained\n00:00:", 0), 0U) << out_;
  EXPECT_NE(out_.find("\n00:00:34.5  trained: all 20 steps are trained and saved\n"
                      "00:00:34.5  step 20 of 20, "),
            std::string::npos)
      << out_;
  EXPECT_EQ(out_.find('\x1b'), std::string::npos);
}

TEST_F(RunWatchVerbsTest, ReportPrintsAndWritesAPage) {
  add_small_run();
  const std::string page = place_.path() + "/report.html";
  EXPECT_EQ(code_of("report", {"small"}, {{"--html", {page}}}), kExitOk);
  EXPECT_NE(out_.find("breakdown"), std::string::npos) << out_;
  EXPECT_NE(read_file(page)->find("<title>small"), std::string::npos);
  EXPECT_EQ(code_of("report", {}, {{"--output", {"json"}}}), kExitOk);
  EXPECT_TRUE(parse_json(out_, "report").ok()) << out_;
  EXPECT_NE(code_of("report", {"small"}, {{"--html", {"/proc/no/report.html"}}}), kExitOk);
}

TEST_F(RunWatchVerbsTest, ARunThatDoesNotRunIsNotStopped) {
  add_small_run(8);
  EXPECT_EQ(code_of("stop", {"small"}), kExitUsage);
  EXPECT_NE(err_.find("the run small is not running"), std::string::npos) << err_;
}

TEST_F(RunWatchVerbsTest, DamagedFilesAreBadInput) {
  add_small_run();
  ASSERT_TRUE(write_file(journal_path_of(place_.path() + "/runs/small"), "x\ny\n").ok());
  EXPECT_EQ(code_of("report", {"small"}), kExitBadInput);
  EXPECT_EQ(code_of("status", {}), kExitOk);  // The others are listed, with a warning.
  EXPECT_NE(err_.find("journal.jsonl"), std::string::npos) << err_;
}

}  // namespace

}  // namespace stint::cli
