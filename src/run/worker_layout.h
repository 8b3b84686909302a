#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/parallel_layout.h"

namespace stint {

/// The layout that a run passes on to its workers. Scripts get the words as the user wrote them,
/// and the data-parallel degree of the attempt: a micro-batch that was left out is the script's
/// choice.
struct WorkerLayout {
  ParallelLayout degrees;
  std::vector<std::string> rest = {};  // The words that no attempt changes.

  /// Workers of one replica of the model.
  int model() const { return degrees.tensor * degrees.pipeline * degrees.context; }
  int workers() const { return degrees.data * model(); }
};

/// Reads the text form of a ParallelLayout; an empty text is one worker. A usage error quotes the
/// wrong word.
Result<WorkerLayout> parse_worker_layout(std::string_view text);
std::string to_text(const WorkerLayout& layout);

/// The same model on another number of workers: with the data-parallel degree that fits, and the
/// others left over. Requires workers >= layout.model().
WorkerLayout fitted(WorkerLayout layout, int workers);

/// The samples of a step of each worker, by rank: those of its data-parallel rank.
std::vector<int> shares_of(const WorkerLayout& layout, int global_batch);

}  // namespace stint
