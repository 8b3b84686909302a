#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "load/environment.h"
#include "measure/trace/trace_profile.h"

namespace stint {

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
