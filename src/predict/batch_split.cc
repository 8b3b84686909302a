#include "predict/batch_split.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "base/check.h"

namespace stint {
namespace {

Seconds time_of(const WorkerSpeed& worker, int batch) {
  return worker.fixed + batch * worker.per_sample;
}

/// The most samples each worker can do in `time`, but at least one.
std::vector<int> batches_within(Seconds time, std::span<const WorkerSpeed> workers, int most) {
  std::vector<int> batches;
  batches.reserve(workers.size());
  for (const WorkerSpeed& worker : workers) {
    const double fitting = std::floor((time - worker.fixed) / worker.per_sample);
    batches.push_back(static_cast<int>(std::clamp(fitting, 1.0, static_cast<double>(most))));
  }
  return batches;
}

std::int64_t sum_of(const std::vector<int>& batches) {
  return std::accumulate(batches.begin(), batches.end(), std::int64_t{0});
}

/// A split of at most `global_batch` samples that is close to it, by halving the time allowed.
std::vector<int> nearly_split(int global_batch, std::span<const WorkerSpeed> workers) {
  Seconds low;
  Seconds high;
  for (const WorkerSpeed& worker : workers) high = std::max(high, time_of(worker, global_batch));
  for (int halving = 0; halving < 60; ++halving) {
    const Seconds middle = (low + high) / 2;
    const bool too_much = sum_of(batches_within(middle, workers, global_batch)) > global_batch;
    (too_much ? high : low) = middle;
  }
  return batches_within(low, workers, global_batch);
}

}  // namespace

std::vector<int> split_batch(int global_batch, std::span<const WorkerSpeed> workers) {
  CHECK(!workers.empty());
  CHECK(static_cast<std::size_t>(global_batch) >= workers.size());
  for (const WorkerSpeed& worker : workers) CHECK(worker.per_sample > Seconds{});
  std::vector<int> batches = nearly_split(global_batch, workers);

  using Next = std::pair<Seconds, std::size_t>;  // When it would be done with one more, and who.
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  for (std::size_t k = 0; k < workers.size(); ++k) {
    queue.emplace(time_of(workers[k], batches[k] + 1), k);
  }
  for (std::int64_t left = global_batch - sum_of(batches); left > 0; --left) {
    const std::size_t k = queue.top().second;
    queue.pop();
    ++batches[k];
    queue.emplace(time_of(workers[k], batches[k] + 1), k);
  }
  return batches;
}

std::vector<double> gradient_weights(std::span<const int> batches) {
  const double whole = std::accumulate(batches.begin(), batches.end(), 0.0);
  CHECK(whole > 0);
  std::vector<double> weights;
  weights.reserve(batches.size());
  for (const int batch : batches) weights.push_back(batch / whole);
  return weights;
}

}  // namespace stint
