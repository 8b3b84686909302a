#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "measure/tables/memory_table.h"
#include "plan/validation.h"

namespace stint {

/// A verdict and the measured outcome.
struct ScoredMark {
  std::string group;
  bool predicted = true;
  bool happened = true;
};

/// The share of `marks` that were right. The error of one is 0 or 1, so that the mean error is the
/// share that was wrong.
Score score_marks(std::span<const ScoredMark> marks);

std::map<std::string, Score> score_marks_by_group(std::span<const ScoredMark> marks);

/// The mean of each figure over the groups that have it; see mean_over in score.h.
Score mean_mark_score(const std::map<std::string, Score>& groups);

/// Jobs that shared one device, and whether they fitted.
struct MemoryTrial {
  std::vector<SizedJob> jobs;  // At least one.
  Bytes memory;                // Memory of the device.
  bool fits = true;
};

/// The memory of jobs, fitted only to marks of what fitted:
///
///   need_j(b) = fixed_j + full_j · b / b_max,  P(fits) = 1 / (1 + (Σ need / memory)^(1/w))
///
/// with b_max the largest observed batch of the job. The need belongs to the job and holds on every
/// device. Penalised likelihood: priors bound what the marks do not determine.
class LatentMemory {
 public:
  static Result<LatentMemory> fit(std::span<const MemoryTrial> trials);

  /// An unseen job needs as much as an average one.
  Bytes need(const SizedJob& job) const;

  /// Requires at least one job and memory > 0.
  double probability_fits(const std::vector<SizedJob>& jobs, Bytes memory) const;

 private:
  struct Need {
    Bytes fixed;
    Bytes full;
    int batch_max = 1;
  };

  std::map<std::string, Need> needs_;
};

}  // namespace stint
