#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/tables/step_table.h"

namespace stint {

/// The split of a table into test and training rows. Rows with one worker are known from a profile,
/// so that they stay in training.
struct Split {
  enum class Kind {
    // Each job in turn, or ten groups of jobs where there are more; of held-out jobs only rows with
    // one worker are trained on.
    kLeaveOneJobOut,
    kWorkersMax,  // Trained on up to this many workers, tested on the rest.
    kClusterMax,  // Trained on up to this many VMs, tested on the rest.
    kDevice,      // Tested on several workers of one device, trained on all other rows.
  };
  Kind kind = Kind::kLeaveOneJobOut;
  int most = 0;  // Workers or VMs.
  std::string device;
};

/// "leave-one-job-out", "max-gpus=6", "max-vms=1" or "gpu=P100"; a usage error otherwise.
Result<Split> parse_split(std::string_view text);
std::string to_text(const Split& split);

/// One fit and its test, as numbers of rows.
struct Fold {
  std::vector<std::size_t> train;
  std::vector<std::size_t> test;
};

/// The condition of a test row when a job is held out.
enum class TestRows { kSeveralVms, kSeveralWorkers };

/// The folds of `split`. Rows that cannot be used are in neither part.
std::vector<Fold> folds(const Split& split, std::span<const StepRow> rows, TestRows scored);

}  // namespace stint
