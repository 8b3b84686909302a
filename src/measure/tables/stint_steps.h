#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/tables/step_table.h"
#include "plan/layout.h"

namespace stint {

/// A run, or a part of it, on one layout.
struct MeasuredRun {
  std::string run;
  std::string job;
  Layout layout;
  std::optional<Seconds> time = {};  // Of an iteration; absent where none was recorded.
};

/// Reads our own measurements (JSON lines, see measurement.h): one for each time that a run begins
/// or continues on a cluster, in the order of the file. Its time is the median of the iterations
/// from there to the next start of the same run; when there are more than five the first two, in
/// which programs warm up, are left out. Iterations of runs that no line starts are skipped, and so
/// are probes of the network (see reductions.h).
Result<std::vector<MeasuredRun>> read_measured_runs(std::string_view text,
                                                    const std::string& source);

/// The same as rows of a table of step times.
///
/// A start on several VM types, with batches that differ between groups, with accumulation, or with
/// a collective other than a ring and parameter servers, which a row cannot say, is unusable. There
/// is a parameter server on each VM. The device is the name of the VM type.
Result<std::vector<StepRow>> read_stint_steps(std::string_view text, const std::string& source);

}  // namespace stint
