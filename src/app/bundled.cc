#include "app/bundled.h"

extern "C" {
extern const char stint_catalog_gpus_begin[], stint_catalog_gpus_end[];
extern const char stint_catalog_aws_begin[], stint_catalog_aws_end[];
extern const char stint_catalog_gcp_begin[], stint_catalog_gcp_end[];
extern const char stint_catalog_azure_begin[], stint_catalog_azure_end[];
}

namespace stint {

std::span<const BundledFile> bundled_catalogs() {
  static const BundledFile kFiles[] = {
      {"catalog/gpus.json", {stint_catalog_gpus_begin, stint_catalog_gpus_end}},
      {"catalog/aws.json", {stint_catalog_aws_begin, stint_catalog_aws_end}},
      {"catalog/gcp.json", {stint_catalog_gcp_begin, stint_catalog_gcp_end}},
      {"catalog/azure.json", {stint_catalog_azure_begin, stint_catalog_azure_end}}};
  return kFiles;
}

}  // namespace stint
