#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "cli/verbs/verb_list.h"
#include "run/run_fixture.h"

namespace stint::cli {
namespace {

class LogsVerbTest : public testing::Test {
 protected:
  ExitCode code_of(std::vector<std::string> arguments,
                   std::map<std::string, std::vector<std::string>> options = {}) {
    Invocation invocation{.options = std::move(options),
                          .arguments = std::move(arguments),
                          .out = std::tmpfile(),
                          .err = std::tmpfile()};
    invocation.environment.state_folder = place_.path();
    invocation.environment.clock = std::make_shared<FixedClock>(2000 * kSecond);
    const ExitCode code = logs_verb().run(invocation);
    out_ = text_of(invocation.out);
    err_ = text_of(invocation.err);
    return code;
  }

  static std::string text_of(std::FILE* file) {
    std::rewind(file);
    std::string text(10'000, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
  }

  void add_run() {
    const std::string folder = place_.path() + "/runs/small";
    write_small_run(folder, small_record(), small_events());
    std::filesystem::create_directories(log_folder(folder));
    std::ofstream(log_folder(folder) + "/vm1-worker.log") << "one\n\x1b[2Jtwo\n";
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string out_;
  std::string err_;
};

TEST_F(LogsVerbTest, PrefixesLinesWithTheirRank) {
  add_run();
  EXPECT_EQ(code_of({"small"}), kExitOk);
  EXPECT_EQ(out_, "[rank0]: one\n[rank0]: two\n");
  EXPECT_EQ(code_of({}, {{"--lines", {"1"}}, {"--follow", {}}}), kExitOk);
  EXPECT_EQ(out_, "[rank0]: two\n");
  EXPECT_EQ(code_of({}, {{"--rank", {"1"}}}), kExitOk);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_, "No output of rank 1 of small yet.\n");
}

TEST_F(LogsVerbTest, WrongRunsRanksAndCountsAreUsageErrors) {
  EXPECT_EQ(code_of({}), kExitUsage);
  EXPECT_NE(err_.find("there are no runs yet"), std::string::npos) << err_;
  add_run();
  EXPECT_EQ(code_of({"large"}), kExitUsage);
  EXPECT_NE(err_.find("there is no run large"), std::string::npos) << err_;
  for (const char* rank : {"2", "-1", "x", ""}) {
    EXPECT_EQ(code_of({}, {{"--rank", {rank}}}), kExitUsage) << rank;
    EXPECT_EQ(err_.rfind("stint logs: ", 0), 0U) << err_;
  }
  EXPECT_EQ(code_of({}, {{"--lines", {"0"}}}), kExitUsage);
}

}  // namespace
}  // namespace stint::cli
