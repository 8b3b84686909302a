#include <gtest/gtest.h>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

TEST(LayoutsVerb, TakesAModelAndACluster) {
  const Verb verb = layouts_verb();
  EXPECT_EQ(verb.path, "layouts");
  EXPECT_EQ(verb.outputs, (std::vector<std::string>{"table", "json", "csv"}));
  EXPECT_FALSE(verb.examples.empty());
}

}  // namespace
}  // namespace stint::cli
