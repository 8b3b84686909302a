#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "measure/tables/memory_table.h"

namespace stint {

/// Jobs that were put on one device together, and whether they fitted.
struct MemoryTrial {
  std::vector<SizedJob> jobs;  // At least one.
  Bytes memory;                // Of the device.
  bool fits = true;
};

/// What jobs need, learned from nothing but marks of what fitted:
///
///   need_j(b) = fixed_j + full_j · b / b_max,  P(fits) = 1 / (1 + (Σ need / memory)^(1/w))
///
/// with b_max the largest batch seen of the job. The need is the job's and holds on every device.
/// Penalised likelihood: priors keep what the marks do not say within reason.
class LatentMemory {
 public:
  static Result<LatentMemory> fit(std::span<const MemoryTrial> trials);

  /// A job that was not seen needs what an average one does.
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
