#include "load/bundled.h"

#include <vector>

extern "C" {
extern const char stint_catalog_gpus_begin[], stint_catalog_gpus_end[];
extern const char stint_catalog_boards_begin[], stint_catalog_boards_end[];
extern const char stint_catalog_aws_begin[], stint_catalog_aws_end[];
extern const char stint_catalog_gcp_begin[], stint_catalog_gcp_end[];
extern const char stint_catalog_azure_begin[], stint_catalog_azure_end[];
extern const char stint_catalog_local_begin[], stint_catalog_local_end[];
// The build lists the jobs and calibrations of data/, and the Python files, as BUNDLE(symbol,
// path).
#define BUNDLE(symbol, path) extern const char symbol##_begin[], symbol##_end[];
#include "load/bundled_files.inc"
#undef BUNDLE
}

namespace stint {
namespace {

#define BUNDLE(symbol, path) {path, {symbol##_begin, symbol##_end}},

std::span<const BundledFile> listed_files() {
  static const BundledFile kFiles[] = {
#include "load/bundled_files.inc"
  };
  return kFiles;
}

#undef BUNDLE

std::vector<BundledFile> files_in(std::string_view folder) {
  std::vector<BundledFile> files;
  for (const BundledFile& file : listed_files()) {
    if (std::string_view(file.path).starts_with(folder)) files.push_back(file);
  }
  return files;
}

}  // namespace

std::span<const BundledFile> bundled_catalogs() {
  static const BundledFile kFiles[] = {
      {"catalog/gpus.json", {stint_catalog_gpus_begin, stint_catalog_gpus_end}},
      {"catalog/boards.json", {stint_catalog_boards_begin, stint_catalog_boards_end}},
      {"catalog/aws.json", {stint_catalog_aws_begin, stint_catalog_aws_end}},
      {"catalog/gcp.json", {stint_catalog_gcp_begin, stint_catalog_gcp_end}},
      {"catalog/azure.json", {stint_catalog_azure_begin, stint_catalog_azure_end}},
      {"catalog/local.json", {stint_catalog_local_begin, stint_catalog_local_end}}};
  return kFiles;
}

std::span<const BundledFile> bundled_jobs() {
  static const std::vector<BundledFile> kFiles = files_in("jobs/");
  return kFiles;
}

std::span<const BundledFile> bundled_calibrations() {
  static const std::vector<BundledFile> kFiles = files_in("calibration/");
  return kFiles;
}

std::span<const BundledFile> bundled_models() {
  static const std::vector<BundledFile> kFiles = files_in("models/");
  return kFiles;
}

std::span<const BundledFile> bundled_python() {
  static const std::vector<BundledFile> kFiles = files_in("python/");
  return kFiles;
}

std::string_view name_of(const BundledFile& file) {
  std::string_view name = file.path;
  name.remove_prefix(name.rfind('/') + 1);
  name.remove_suffix(std::string_view(".json").size());
  return name;
}

}  // namespace stint
