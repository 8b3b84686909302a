#include "plan/sharing_mode.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace stint {
namespace {

TEST(SharingMode, EachHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const auto& [mode, name] : names_of(SharingMode{})) {
    EXPECT_STREQ(name_of(mode), name);
    EXPECT_TRUE(names.insert(name).second);
  }
  EXPECT_EQ(names.size(), 4U);
}

}  // namespace
}  // namespace stint
