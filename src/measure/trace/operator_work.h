#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/work.h"
#include "measure/trace/profile_summary.h"

namespace stint {

/// The operators of one iteration at one batch.
struct OperatorRun {
  int batch = 1;   // Samples of a pass.
  int passes = 1;  // Micro-steps of the iteration.
  std::vector<ProfiledOperator> operators;
  OperatorTotal total;
};

/// The last iteration among `records` whose operators are all there and whose batch and passes are
/// those of the summary. Bad input when there is none.
Result<OperatorRun> operator_run(const std::vector<ProfileRecord>& records,
                                 const ProfileSummary& summary);

/// How the operators that were found are to be run on a GPU.
struct OperatorChange {
  WorkPrecision precision = WorkPrecision::kFp32;
  bool fused_attention = false;    // Products, softmax and masks of attention in one kernel.
  std::optional<double> compiled;  // Of the bytes of sweeps, those that a compiler leaves.
};

/// How many operators of a pass, forward and backward, are of which kind.
struct OperatorCounts {
  double products = 0;
  double convolutions = 0;
  double batched = 0;     // Products of batches of matrices, and fused attention.
  double sweeps = 0;      // All others.
  double chains = 0;      // Sweeps without another kind between them: what a compiler may fuse.
  double attentions = 0;  // Written out, in the forward pass.
  double fused = 0;       // Attention that is one operator already, in the forward pass.
  double scores = 0;      // Sweeps over the scores of attention that is written out.
  double in_half = 0;     // Products and convolutions of 16-bit numbers.
  Bytes score_bytes;      // Of one sample: what reading and writing scores moves.

  double all() const { return products + convolutions + batched + sweeps; }
};

/// The work of a sample that one or two runs tell of.
struct OperatorWork {
  JobWork work;
  OperatorCounts counts;                   // As found.
  bool by_shapes = false;                  // One run: tensors that grow are told by their shapes.
  std::vector<std::string> warnings = {};  // What was left out.
};

/// True when the script computes its products with 16-bit numbers.
bool computes_in_half(const OperatorRun& run);

OperatorCounts operator_counts(const OperatorRun& run);

/// The work of a sample. With two runs of the same operators at batches b₁ < b₂ each figure is
/// split into what grows with the batch and what does not,
///
///   per sample = (f₂ − f₁)/(b₂ − b₁),  fixed = f₁ − per sample · b₁,
///
/// and with one run, or with lists that differ, by the shapes of weights. Fixed bytes are read with
/// the weights; fixed arithmetic is left out. Operators of equal figures are one entry. In another
/// width than the script's, numbers of 32 bits count as 16 or the reverse. Bad input: figures that
/// no computer has. Requires one or two runs, two of different batches.
Result<OperatorWork> operator_work(std::span<const OperatorRun> runs, const OperatorChange& change);

}  // namespace stint
