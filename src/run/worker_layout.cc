#include "run/worker_layout.h"

#include <cstdint>
#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"

namespace stint {

Result<WorkerLayout> parse_worker_layout(std::string_view text) {
  WorkerLayout layout;
  if (trim(text).empty()) return layout;
  const auto degrees = parse_parallel_layout(text);
  if (!degrees.ok()) return degrees.error();
  layout.degrees = *degrees;
  for (const std::string& word : split(text, ' ')) {
    if (!word.empty() && !to_lower(word).starts_with("dp")) layout.rest.push_back(to_lower(word));
  }
  return layout;
}

std::string to_text(const WorkerLayout& layout) {
  std::vector<std::string> words = layout.rest;
  const int data = layout.degrees.data;
  if (data > 1 || words.empty()) words.insert(words.begin(), fmt::format("dp{}", data));
  return join(words, " ");
}

WorkerLayout fitted(WorkerLayout layout, int workers) {
  CHECK(workers >= layout.model());
  layout.degrees.data = workers / layout.model();
  return layout;
}

std::vector<int> shares_of(const WorkerLayout& layout, int global_batch) {
  const auto until = [&](int ranks) {
    return static_cast<int>(std::int64_t{global_batch} * ranks / layout.degrees.data);
  };
  std::vector<int> shares;
  for (int rank = 0; rank < layout.workers(); ++rank) {
    const ParallelLayout& it = layout.degrees;
    const int data = rank / (it.tensor * it.context) % it.data;
    shares.push_back(until(data + 1) - until(data));
  }
  return shares;
}

}  // namespace stint
