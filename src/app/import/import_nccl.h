#pragma once

#include <string>
#include <vector>

#include "measure/tables/nccl_text.h"

namespace stint {

struct NcclImportRequest {
  std::vector<std::string> files;
  std::string vm;   // Instance type of the hosts; empty: what the texts call the GPUs.
  std::string out;  // Where to write the table; empty: nowhere.
};

/// Reads texts of nccl-tests and writes them as one table. Bad input: see read_nccl_text.
Result<NcclTable> import_nccl(const NcclImportRequest& request);

}  // namespace stint
