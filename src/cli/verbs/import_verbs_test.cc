#include <cstdio>
#include <gtest/gtest.h>

#include "cli/verbs/verb_list.h"

namespace stint::cli {
namespace {

TEST(ImportVerbs, AreOfOneGroup) {
  const auto verbs = import_verbs();
  ASSERT_EQ(verbs.size(), 2U);
  for (const Verb& verb : verbs) EXPECT_TRUE(verb.path.starts_with("import ")) << verb.path;
}

TEST(ImportVerbs, EndWithTheErrorsCode) {
  for (const Verb& verb : import_verbs()) {
    Invocation invocation;
    invocation.err = std::fopen("/dev/null", "w");
    EXPECT_EQ(verb.run(invocation), kExitUsage) << verb.path;
    invocation.arguments = {"/nowhere/file"};
    EXPECT_EQ(verb.run(invocation), kExitBadInput) << verb.path;
    std::fclose(invocation.err);
  }
}

TEST(ImportVerbs, CheckTheirFigures) {
  const Verb verb = import_verbs()[0];
  for (const auto& [option, value] : {std::pair("--batch", "0"),
                                      {"--batch", "x"},
                                      {"--gradients", "100"},
                                      {"--gradients", "0 MB"}}) {
    Invocation invocation;
    invocation.err = std::fopen("/dev/null", "w");
    invocation.arguments = {"/nowhere/file"};
    invocation.options[option] = {value};
    EXPECT_EQ(verb.run(invocation), kExitUsage) << option << " " << value;
    std::fclose(invocation.err);
  }
}

}  // namespace
}  // namespace stint::cli
