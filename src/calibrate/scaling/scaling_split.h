#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "calibrate/split.h"
#include "measure/tables/scaling_table.h"

namespace stint {

/// The split of a table of clusters into training and test rows.
struct ScalingSplit {
  enum class Kind {
    // Trained on the `count` smallest sizes of each series (owner, job, device and edition), tested
    // on its larger ones. A cluster that is tested in one edition is trained on in none.
    kSmallest,
    kLeaveOneJobOut,
    kLeaveOneOwnerOut,
    kWorkersMax,  // Trained on clusters of up to `count` workers, tested on the rest.
    kUpToVms,     // The same by VMs.
  };
  Kind kind = Kind::kSmallest;
  int count = 0;
};

/// "smallest=2", "leave-one-job-out", "leave-one-submitter-out", "max-gpus=16" or "max-vms=1"; a
/// usage error otherwise.
Result<ScalingSplit> parse_scaling_split(std::string_view text);

/// The folds of `split`; those without test rows are left out. Rows that cannot be used are in
/// neither part.
std::vector<Fold> folds(const ScalingSplit& split, std::span<const ScalingRow> rows);

}  // namespace stint
