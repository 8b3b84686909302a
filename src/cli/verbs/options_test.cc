#include "cli/verbs/options.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

Invocation with(const std::string& option, const std::string& value) {
  Invocation invocation;
  invocation.options[option] = {value};
  return invocation;
}

TEST(GoalOptions, SayWhatTheProfileDoesNot) {
  const auto none = overrides_of({});
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->goal || none->samples_per_epoch || none->name);
  EXPECT_EQ(overrides_of(with("--epochs", "90"))->goal, "epochs=90");
  EXPECT_EQ(overrides_of(with("--goal", "samples=1e6"))->goal, "samples=1e6");
  EXPECT_EQ(overrides_of(with("--samples-per-epoch", "50000"))->samples_per_epoch, 50000);
  EXPECT_EQ(overrides_of(with("--epochs", "-1")).error().message,
            "--epochs must be a number above zero, at most 1e+15, not '-1'");
  EXPECT_EQ(overrides_of(with("--goal", "90")).error().message,
            "--goal: '90' is not a goal; write epochs=90, samples=1e6, or a level such as "
            "'accuracy>=0.93' or 'loss<=0.2'");
}

TEST(DeadlineOptions, HaveDefaults) {
  const auto terms = deadline_terms({});
  ASSERT_TRUE(terms.ok());
  EXPECT_EQ(terms->work, 24 * kHour);
  EXPECT_EQ(terms->deadline_or_default(), 36 * kHour);
  EXPECT_EQ(terms->changeover, 13 * kMinute);
  EXPECT_EQ(terms->machines, 1);
}

TEST(DeadlineOptions, AreRead) {
  EXPECT_EQ(deadline_terms(with("--work", "10h"))->deadline_or_default(), 15 * kHour);
  EXPECT_EQ(deadline_terms(with("--deadline", "2d"))->deadline_or_default(), 48 * kHour);
  EXPECT_EQ(deadline_terms(with("--changeover", "0s"))->changeover, Seconds{});
  EXPECT_EQ(deadline_terms(with("--price-ratio", "2.5"))->price_ratio, 2.5);
  EXPECT_EQ(deadline_terms(with("--machines", "8"))->machines, 8);
}

TEST(DeadlineOptions, RefuseWhatIsNoTimeOrNumber) {
  for (const auto& [option, value] :
       std::vector<std::pair<const char*, const char*>>{{"--work", "24"},
                                                        {"--work", "0h"},
                                                        {"--deadline", "-3h"},
                                                        {"--changeover", "-1s"},
                                                        {"--price-ratio", "much"},
                                                        {"--machines", "0"}}) {
    const auto terms = deadline_terms(with(option, value));
    ASSERT_FALSE(terms.ok()) << option << value;
    EXPECT_EQ(terms.error().kind, ErrorKind::kUsage);
    EXPECT_NE(terms.error().message.find(option), std::string::npos) << terms.error().message;
  }
}

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
