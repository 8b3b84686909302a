#include "load/bundled.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "job/job.h"
#include "plan/calibration.h"

namespace stint {
namespace {

/// Every file there is, of all kinds.
std::vector<BundledFile> all_files() {
  std::vector<BundledFile> all;
  for (const auto files : {bundled_catalogs(), bundled_jobs(), bundled_calibrations()}) {
    all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

TEST(Bundled, HoldsTheGpusTheThreeProvidersAndTheEmulatedOne) {
  std::set<std::string> paths;
  for (const BundledFile& file : bundled_catalogs()) paths.insert(file.path);
  EXPECT_EQ(paths,
            (std::set<std::string>{"catalog/aws.json", "catalog/azure.json", "catalog/boards.json",
                                   "catalog/gcp.json", "catalog/gpus.json", "catalog/local.json"}));
  EXPECT_EQ(bundled_catalogs().size(), paths.size());
}

TEST(Bundled, TheBytesAreTheWholeFileAndNothingBehindIt) {
  for (const BundledFile& file : all_files()) {
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

TEST(Bundled, EveryJobReadsWithoutAWarningAndIsCalledAsItsFile) {
  ASSERT_FALSE(bundled_jobs().empty());
  for (const BundledFile& file : bundled_jobs()) {
    const auto loaded = read_job(file.bytes, file.path);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_TRUE(loaded->warnings.empty()) << loaded->warnings.front();
    EXPECT_EQ(loaded->noun.name, name_of(file));
  }
}

TEST(Bundled, EveryCalibrationReadsWithoutAWarningAndIsCalledAsItsFile) {
  ASSERT_FALSE(bundled_calibrations().empty());
  for (const BundledFile& file : bundled_calibrations()) {
    const auto loaded = read_calibration(file.bytes, file.path);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_TRUE(loaded->warnings.empty()) << loaded->warnings.front();
    EXPECT_EQ(loaded->noun.name, name_of(file));
  }
}

TEST(Bundled, HoldsThePythonPackageAndWhatPythonLoadsFirst) {
  std::set<std::string> paths;
  for (const BundledFile& file : bundled_python()) paths.insert(file.path);
  EXPECT_TRUE(paths.contains("python/stint/__init__.py"));
  EXPECT_TRUE(paths.contains("python/stint_site/sitecustomize.py"));
  EXPECT_TRUE(paths.contains("python/stint/libstint_turnstile.so"));
  for (const BundledFile& file : bundled_python()) {
    if (std::string_view(file.path).ends_with(".so")) {
      EXPECT_TRUE(
          file.bytes.starts_with("\x7f"
                                 "ELF"));
      continue;
    }
    EXPECT_TRUE(file.bytes.starts_with("\"\"\"")) << file.path;
    EXPECT_TRUE(file.bytes.ends_with("\n")) << file.path;
  }
}

TEST(Bundled, NoPathStandsTwice) {
  std::set<std::string> paths;
  for (const BundledFile& file : all_files()) EXPECT_TRUE(paths.insert(file.path).second);
}

}  // namespace
}  // namespace stint
