#include <gtest/gtest.h>
#include <memory>

#include "base/temporary_folder.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

using Options = std::map<std::string, std::vector<std::string>>;

class SearchVerbTest : public testing::Test {
 protected:
  ExitCode code_of(Options options, std::vector<std::string> command = {"train"}) {
    options.try_emplace("--job", std::vector<std::string>{"paced-5mb"});
    options.try_emplace("--dry-run", std::vector<std::string>{});
    Invocation invocation{.options = std::move(options),
                          .arguments = std::move(command),
                          .out = std::tmpfile(),
                          .err = std::tmpfile()};
    invocation.environment.state_folder = place_.path();
    invocation.environment.clock = std::make_shared<FixedClock>(Seconds{});
    const ExitCode code = search_verb().run(invocation);
    out_ = text_of(invocation.out);
    err_ = text_of(invocation.err);
    return code;
  }

  static std::string text_of(std::FILE* file) {
    std::rewind(file);
    char buffer[8192];
    std::string text(buffer, std::fread(buffer, 1, sizeof(buffer), file));
    std::fclose(file);
    return text;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string out_;
  std::string err_;
};

TEST_F(SearchVerbTest, ShowsWhatItWouldDo) {
  EXPECT_EQ(code_of({{"--target", {"steps=40000"}},
                     {"--batch", {"48"}},
                     {"--types", {"local.large", "local.fast"}},
                     {"--objective", {"time"}}}),
            kExitOk)
      << err_;
  EXPECT_NE(out_.find("starts on 1x local.large at batch size 48"), std::string::npos) << out_;
  EXPECT_NE(out_.find("move to"), std::string::npos) << out_;
}

TEST_F(SearchVerbTest, RefusesTargetsThatAreNone) {
  for (const char* target : {"accuracy=1", "steps", "steps=0", "loss=low", "steps=1e"}) {
    EXPECT_EQ(code_of({{"--target", {target}}, {"--batch", {"48"}}}), kExitUsage) << target;
  }
  EXPECT_EQ(code_of({{"--batch", {"48"}}}), kExitUsage);
  EXPECT_NE(err_.find("--target is required"), std::string::npos) << err_;
  EXPECT_EQ(code_of({{"--target", {"loss=0.4"}}, {"--batch", {"48"}}}), kExitUsage);
  EXPECT_NE(err_.find("--steps is required"), std::string::npos) << err_;
}

TEST_F(SearchVerbTest, RefusesNumbersThatAreNone) {
  const Options fine = {{"--target", {"steps=40000"}}, {"--batch", {"48"}}};
  for (const auto& [name, value] : std::map<std::string, std::string>{{"--vms", "0"},
                                                                      {"--batches", "x"},
                                                                      {"--search-budget", "-5%"},
                                                                      {"--max-time", "5"},
                                                                      {"--max-cost", "much"},
                                                                      {"--probe-steps", "0"}}) {
    Options options = fine;
    options[name] = {value};
    EXPECT_EQ(code_of(options), kExitUsage) << name;
  }
}

TEST_F(SearchVerbTest, SaysThatThereIsNoSuchSearch) {
  EXPECT_EQ(code_of({{"--resume", {"nobody"}}}), kExitUsage);
}

}  // namespace
}  // namespace stint::cli
