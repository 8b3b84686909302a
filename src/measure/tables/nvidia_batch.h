#pragma once

#include <optional>
#include <string_view>

namespace stint {

/// "1,048,576", "2.1e+06" or "64k" (of 1024, as batches go by powers of two); above zero.
std::optional<double> printed_number(std::string_view text);

/// The cells about the batch of one row of a table of NVIDIA's.
struct PrintedBatch {
  std::string_view cell;               // "64", "64 (FP32) / 96 (AMP)", "12 and 24", "64k"
  std::string_view column;             // "Batch size / GPU (TF32 and FP16)"
  std::string_view precision;          // "FP32", "TF32", "mixed" or nothing
  std::string_view throughput_column;  // May contain "(BS=104)".
  int gpus = 1;
};

/// Samples per GPU. Of two values the one for the row's precision is used: labels in the cell or in
/// the column determine it; without them mixed precision, which takes half the memory, has the
/// larger one. A column with "global" or "total" is shared by the GPUs; one without either is per
/// GPU, as all labelled ones are. A blank cell is the BS of the throughput column, or 1. Nothing
/// when the cell cannot be read.
std::optional<double> batch_per_gpu(const PrintedBatch& printed);

}  // namespace stint
