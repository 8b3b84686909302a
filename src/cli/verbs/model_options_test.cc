#include "cli/verbs/model_options.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

Invocation words(std::map<std::string, std::vector<std::string>> options) {
  return {.options = std::move(options)};
}

TEST(ModelOptions, MakeTheNameOfAJob) {
  const auto text = job_text(
      words({{"--model", {"llama-3-8b"}}, {"--tokens", {"100M"}}, {"--method", {"lora"}}}));
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(*text, "model:llama-3-8b,tokens=100000000,method=lora:16");
  EXPECT_EQ(*job_text(words({{"--job", {"my.json"}}})), "my.json");
}

TEST(ModelOptions, ExcludeAJobAndNeedAModel) {
  EXPECT_FALSE(job_text(words({{"--model", {"a"}}, {"--job", {"b"}}})).ok());
  EXPECT_FALSE(job_text(words({{"--tokens", {"1M"}}})).ok());
  EXPECT_FALSE(job_text(words({{"--model", {"a,b"}}})).ok());
  EXPECT_FALSE(job_text(words({{"--model", {"a"}}, {"--method", {"lora:0"}}})).ok());
}

TEST(ModelOptions, HaveAKeyEach) {
  for (const OptionSpec& it : model_options()) {
    if (it.name == "--model" || it.name == "--epochs") continue;
    const auto alone = job_text(words({{it.name, {"1"}}}));
    ASSERT_FALSE(alone.ok()) << it.name;
    EXPECT_EQ(alone.error().message, it.name + " needs --model");
  }
}

}  // namespace
}  // namespace stint::cli
