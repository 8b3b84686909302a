#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace stint {

void for_each_parallel(std::size_t count, const std::function<void(std::size_t)>& each,
                       const Progress& progress) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t done = 0;  // Under the mutex.
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      each(i);
      const std::lock_guard lock(mutex);
      ++done;
      if (progress) progress(static_cast<double>(done) / static_cast<double>(count));
    }
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(cores, count); ++i) others.emplace_back(work);
  work();
}

}  // namespace stint
