#include <gtest/gtest.h>

#include "cli/verbs.h"
#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

TEST(DemoRun, IsAFlagOfTheDemo) {
  for (const Verb& verb : verbs()) {
    if (verb.path != "demo") continue;
    ASSERT_EQ(verb.options.size(), 1U);
    EXPECT_EQ(verb.options[0].name, "--run");
    return;
  }
  FAIL() << "there is no demo";
}

}  // namespace
}  // namespace stint::cli
