#include <gtest/gtest.h>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

TEST(CalibrateVerbs, AreOfOneGroup) {
  const auto verbs = calibrate_verbs();
  ASSERT_EQ(verbs.size(), 9U);
  for (const Verb& verb : verbs) EXPECT_TRUE(verb.path.starts_with("calibrate ")) << verb.path;
}

TEST(CalibrateVerbs, SayWhatIsMissing) {
  for (const Verb& verb : calibrate_verbs()) {
    Invocation invocation;
    invocation.err = std::tmpfile();
    EXPECT_EQ(verb.run(invocation), kExitUsage) << verb.path;
    std::fclose(invocation.err);
  }
}

}  // namespace
}  // namespace stint::cli
