#pragma once

#include <optional>
#include <string_view>

namespace stint {

/// "1,048,576", "2.1e+06" or "64k" (of 1024, as batches go by powers of two); above zero.
std::optional<double> printed_number(std::string_view text);

/// What a table of NVIDIA's says of the batch of one row.
struct PrintedBatch {
  std::string_view cell;               // "64", "64 (FP32) / 96 (AMP)", "12 and 24", "64k"
  std::string_view column;             // "Batch size / GPU (TF32 and FP16)"
  std::string_view precision;          // "FP32", "TF32", "mixed" or nothing
  std::string_view throughput_column;  // May say "(BS=104)".
  int gpus = 1;
};

/// Samples per GPU. Of two values the one for the row's precision is taken: labels in the cell or
/// in the column say which it is; without them mixed precision, which takes half the memory, has
/// the larger one. A column that says "global" or "total" is shared by the GPUs; one that does not
/// say is per GPU, as all that do say are. A blank cell is the BS of the throughput column, or 1.
/// Nothing when the cell cannot be read.
std::optional<double> batch_per_gpu(const PrintedBatch& printed);

}  // namespace stint
