#include "app/version.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "base/text.h"
#include "catalog/catalog.h"

namespace stint {
namespace {

bool is_number(const std::string& text) { return parse_int(text).has_value(); }

TEST(Version, TheNumberHasThreeParts) {
  const auto parts = split(version().number, '.');
  EXPECT_EQ(parts.size(), 3U);
  EXPECT_TRUE(std::all_of(parts.begin(), parts.end(), is_number)) << version().number;
}

TEST(Version, NamesTheCompiler) { EXPECT_FALSE(version().compiler.empty()); }

TEST(Version, ListsEachSchemaOnceWithItsVersion) {
  const auto schemas = version().schemas;
  for (const std::string& schema : schemas) {
    const auto parts = split(schema, '/');
    ASSERT_EQ(parts.size(), 2U) << schema;
    EXPECT_TRUE(parts[0].starts_with("stint.")) << schema;
    EXPECT_TRUE(is_number(parts[1])) << schema;
  }
  EXPECT_EQ(std::set<std::string>(schemas.begin(), schemas.end()).size(), schemas.size());
  EXPECT_TRUE(std::is_sorted(schemas.begin(), schemas.end()));
  EXPECT_EQ(std::count(schemas.begin(), schemas.end(), kCatalogSchema), 1);
}

}  // namespace
}  // namespace stint
