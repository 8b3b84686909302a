#include "app/bundled.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

#include "catalog/catalog.h"

namespace stint {
namespace {

TEST(Bundled, HoldsTheGpusAndTheThreeProviders) {
  std::set<std::string> paths;
  for (const BundledFile& file : bundled_catalogs()) paths.insert(file.path);
  EXPECT_EQ(paths, (std::set<std::string>{"catalog/aws.json", "catalog/azure.json",
                                          "catalog/gcp.json", "catalog/gpus.json"}));
  EXPECT_EQ(bundled_catalogs().size(), paths.size());
}

TEST(Bundled, TheBytesAreTheWholeFileAndNothingBehindIt) {
  for (const BundledFile& file : bundled_catalogs()) {
    EXPECT_TRUE(file.bytes.starts_with("{")) << file.path;
    EXPECT_TRUE(file.bytes.ends_with("}\n")) << file.path;
    EXPECT_EQ(file.bytes.find('\0'), std::string_view::npos) << file.path;
  }
}

TEST(Bundled, EveryFileReadsWithoutAWarning) {
  for (const BundledFile& file : bundled_catalogs()) {
    const auto loaded = read_catalog(file.bytes, file.path);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_TRUE(loaded->warnings.empty()) << loaded->warnings.front();
  }
}

}  // namespace
}  // namespace stint
