#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

TEST(ValidateDeviceVerb, SaysWhatItTakes) {
  const Verb verb = validate_device_verb();
  EXPECT_EQ(verb.path, "validate device");
  for (const char* name : {"--format", "--train", "--test", "--split", "--prior", "--calibration",
                           "--baseline", "--predictions"}) {
    EXPECT_TRUE(std::any_of(verb.options.begin(), verb.options.end(),
                            [&](const OptionSpec& option) { return option.name == name; }))
        << name;
  }
}

TEST(ValidateDeviceVerb, EndsWithTheErrorsCode) {
  Invocation invocation;
  invocation.err = std::fopen("/dev/null", "w");
  EXPECT_EQ(validate_device_verb().run(invocation), kExitUsage);
  invocation.options["--format"] = {"zeus"};
  EXPECT_EQ(validate_device_verb().run(invocation), kExitUsage);
  invocation.options["--train"] = {"nowhere.csv"};
  invocation.options["--split"] = {"leave-one-gpu-out"};
  EXPECT_EQ(validate_device_verb().run(invocation), kExitBadInput);
  invocation.options["--prior"] = {"infer.csv"};
  EXPECT_EQ(validate_device_verb().run(invocation), kExitUsage);
  std::fclose(invocation.err);
}

}  // namespace
}  // namespace stint::cli
