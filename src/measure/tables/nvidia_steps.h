#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "measure/tables/step_table.h"

namespace stint {

/// Reads training throughputs of NVIDIA's reference implementations, one row per data row, in
/// order: columns example, heading, gpu, num_gpus, batch, batch_column, precision and
/// throughput_column, and gpu_mem_gb and throughput, which may be missing or blank.
///
/// The time of a row is that of one printed unit (an image, a token, …), over all workers together:
///
///   time = 1 / throughput
///
/// or what the cell says where the column is a time of a step ("s/step"). Times compare only within
/// a series: heading, throughput_column, precision and GPU, and where the heading of an example
/// comes again after another one, the number of the table. GPUs fill servers one after another, as
/// large as the heading says ("8x V100", "DGX-2" has 16; otherwise 8). A batch that is nowhere
/// stated is 1.
///
/// Rows whose throughput cannot be read are unmeasured. Those with another cell that cannot be
/// read, with a time that is not of a step, or of several nodes whose number is not stated, are
/// unusable. A table without the key columns is bad input.
Result<std::vector<StepRow>> read_nvidia_steps(std::string_view text, const std::string& source);

/// What the table would print under `throughput_column` for a row of this time; the inverse of what
/// the reader does. Requires a time above zero.
double nvidia_figure(std::string_view throughput_column, Seconds time);

}  // namespace stint
