#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/tables/step_table.h"

namespace stint {

/// How test rows are kept apart from training rows of the same table. Rows with one worker are what
/// a profile gives, so they stay in training.
struct Split {
  enum class Kind {
    kLeaveOneJobOut,  // Each job in turn, or ten groups of jobs where there are more; of those left
                      // out only rows with one worker are trained on.
    kWorkersMax,      // Trained on up to so many workers, tested on the rest.
    kDevice,          // Tested on several workers of one device, trained on all other rows.
  };
  Kind kind = Kind::kLeaveOneJobOut;
  int workers_max = 0;
  std::string device;
};

/// "leave-one-job-out", "max-gpus=6" or "gpu=P100"; a usage error otherwise.
Result<Split> parse_split(std::string_view text);
std::string to_text(const Split& split);

/// One fit and what it is tested on, as numbers of rows.
struct Fold {
  std::vector<std::size_t> train;
  std::vector<std::size_t> test;
};

/// What counts as a test row when a job is left out.
enum class TestRows { kSeveralVms, kSeveralWorkers };

/// The folds of `split`. Rows that cannot be used are in neither part.
std::vector<Fold> folds(const Split& split, std::span<const StepRow> rows, TestRows scored);

}  // namespace stint
