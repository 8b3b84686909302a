#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "calibrate/sharded/sharded_case.h"
#include "calibrate/split.h"

namespace stint {

/// The split of tables of sharded trainings into training and test rows.
struct ShardedSplit {
  enum class Kind {
    kLeaveOneJobOut,     // Each model in turn.
    kLeaveOneLayersOut,  // Each number of layers in turn,
    kLeaveOneHiddenOut,  // each hidden size,
    kLeaveOneGpuOut,     // each accelerator,
    kLeaveOneDateOut,    // and each version of the software.
    kWorkersMax,         // Trained on up to `count` workers, tested on the rest.
    kSequenceMax,        // Trained on sequences of up to `count` tokens, tested on the rest.
    kSmallest,           // Trained on the `count` smallest clusters of each job and version.
    kFolds,              // Every count-th row in turn.
    kGpu,                // Tested on one accelerator, trained on all others.
  };
  Kind kind = Kind::kLeaveOneJobOut;
  int count = 0;
  std::string gpu = {};
};

/// "leave-one-job-out" (or layers, hidden, gpu, date), "max-gpus=64", "max-seq=4096", "smallest=2",
/// "folds=10" or "gpu=H100"; a usage error otherwise.
Result<ShardedSplit> parse_sharded_split(std::string_view text);

/// The folds of `split`; those without test or training rows are left out. Unusable rows are in
/// neither part.
std::vector<Fold> folds(const ShardedSplit& split, std::span<const ShardedCase> cases);

/// Whether `name` ("H100") means the accelerator that the catalogue spells `gpu` ("H100-SXM").
bool names_gpu(std::string_view name, std::string_view gpu);

}  // namespace stint
