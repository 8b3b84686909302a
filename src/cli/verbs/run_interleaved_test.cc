#include <cstdio>
#include <gtest/gtest.h>

#include "app/run/run_together.h"
#include "base/temporary_folder.h"
#include "cli/verbs/verb_list.h"
#include "run/run_fixture.h"

namespace stint::cli {
namespace {

using Options = std::map<std::string, std::vector<std::string>>;

class RunInterleavedTest : public testing::Test {
 protected:
  ExitCode code_of(const Options& options, const RunRequest& common) {
    Invocation invocation{.options = options, .out = std::tmpfile(), .err = std::tmpfile()};
    invocation.environment.state_folder = place_.path();
    invocation.environment.clock = std::make_shared<FixedClock>(Seconds{});
    const ExitCode code = run_interleaved(invocation, common);
    std::rewind(invocation.err);
    char buffer[4096];
    err_ = std::string(buffer, std::fread(buffer, 1, sizeof(buffer), invocation.err));
    std::fclose(invocation.out);
    std::fclose(invocation.err);
    return code;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string err_;
};

TEST_F(RunInterleavedTest, TwoShareAndNotOneOrThree) {
  EXPECT_EQ(code_of({{"--interleave", {"a.plan"}}}, {}), kExitUsage);
  EXPECT_NE(err_.find("--interleave needs two plans, not 1"), std::string::npos) << err_;
  EXPECT_EQ(code_of({{"--interleave", {"a.plan", "b.plan", "c.plan"}}}, {}), kExitUsage);
}

TEST_F(RunInterleavedTest, PlansHaveTheirOwnJobs) {
  const Options two{{"--interleave", {"a.plan", "b.plan"}}};
  EXPECT_EQ(code_of(two, {.job = "a.json"}), kExitUsage);
  EXPECT_NE(err_.find("leave out --plan and --job"), std::string::npos) << err_;
}

TEST_F(RunInterleavedTest, APlanThatIsNotThereIsBadInput) {
  EXPECT_EQ(code_of({{"--interleave", {"a.plan", "b.plan"}}}, {}), kExitBadInput);
  EXPECT_NE(err_.find("a.plan"), std::string::npos) << err_;
}

}  // namespace
}  // namespace stint::cli
