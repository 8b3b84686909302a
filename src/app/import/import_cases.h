#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "load/environment.h"
#include "measure/tables/nccl_text.h"
#include "measure/trace/trace_profile.h"

namespace stint {

struct NcclImportRequest {
  std::vector<std::string> files;
  std::string vm;   // Instance type of the hosts; empty: what the texts call the GPUs.
  std::string out;  // Where to write the table; empty: nowhere.
};

/// Reads texts of nccl-tests and writes them as one table. Bad input: see read_nccl_text.
Result<NcclTable> import_nccl(const NcclImportRequest& request);

/// Reads the trace in a file, plain or gzip, in chunks, so that its size does not matter. Bad
/// input: a file that cannot be read, is no trace or breaks off. Unavailable: no simdjson.
Result<RankTrace> read_trace_file(const std::string& path);

struct TraceImportRequest {
  std::vector<std::string> files;  // One of each rank.
  TraceHints hints;                // An empty name becomes that of the first file.
  std::string out;                 // Where to write the job profile; empty: nowhere.
};

/// Makes a job profile of traces of torch.profiler. Bad input: see read_trace_file and
/// profile_traces, and a profile that is to be written but lacks something.
Result<TraceProfile> import_trace(const Environment& environment,
                                  const TraceImportRequest& request);

/// The one of `names` ("A100-40GB-SXM") that a driver's name of a GPU ("NVIDIA A100-SXM4-40GB")
/// means; empty when none or several fit equally well.
std::string gpu_called(std::string_view device, const std::vector<std::string>& names);

}  // namespace stint
