#include "cli/verbs/step_options.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

TEST(StepOptions, TheFormatMustBeSaid) {
  const auto missing = format_of({});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kUsage);
  EXPECT_NE(missing.error().message.find("pollux"), std::string::npos);
  Invocation invocation;
  invocation.options["--format"] = {"gavel"};
  const auto format = format_of(invocation);
  ASSERT_TRUE(format.ok());
  EXPECT_EQ(*format, StepFormat::kGavel);
}

TEST(StepOptions, TrainingFilesMayBeSeveral) { EXPECT_TRUE(train_option().files); }

}  // namespace
}  // namespace stint::cli
