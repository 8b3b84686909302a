#include <algorithm>
#include <gtest/gtest.h>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

TEST(ModelVerbs, AreListShowAndNew) {
  std::vector<std::string> paths;
  for (const Verb& verb : model_verbs()) {
    paths.push_back(verb.path);
    EXPECT_FALSE(verb.examples.empty());
  }
  EXPECT_EQ(paths, (std::vector<std::string>{"models list", "models show", "job new"}));
}

}  // namespace
}  // namespace stint::cli
