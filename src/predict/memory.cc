#include "predict/memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"

namespace stint {
namespace {

// A CUDA context with its kernels takes 300 to 500 MiB of which the framework's allocator, whose
// peaks profiles hold, knows nothing, and NCCL's channels 100 to 300 MiB more.
constexpr Bytes kOutsideAllocator = 640 * kMiB;

// The caching allocator hands out blocks that it cannot always refill; PyTorch's users see it give
// up with 3 to 8 % unused.
constexpr double kFragmentation = 0.05;

struct Peak {
  double batch = 1;
  Bytes memory;
};

struct Affine {
  Bytes fixed;
  Bytes per_sample;
};

std::vector<Peak> peaks_on(const JobProfile& job, std::string_view device) {
  std::vector<Peak> peaks;
  for (const ComputeSample& sample : job.compute) {
    if (sample.device != device || !sample.peak_memory) continue;
    peaks.push_back({static_cast<double>(sample.batch_per_worker), *sample.peak_memory});
  }
  return peaks;
}

/// Peaks of `device`, or of the device that has most.
std::vector<Peak> best_peaks(const JobProfile& job, std::string_view device) {
  std::vector<Peak> best = peaks_on(job, device);
  if (!best.empty()) return best;
  for (const ComputeSample& sample : job.compute) {
    std::vector<Peak> peaks = peaks_on(job, sample.device);
    if (peaks.size() > best.size()) best = std::move(peaks);
  }
  return best;
}

/// The best slope through a fixed part that is given.
Affine through(Bytes fixed, const std::vector<Peak>& peaks) {
  Bytes weighted;
  double squares = 0;
  for (const Peak& peak : peaks) {
    weighted += peak.batch * (peak.memory - fixed);
    squares += peak.batch * peak.batch;
  }
  return {fixed, std::max(Bytes{}, weighted / squares)};
}

Affine affine_peak(const std::vector<Peak>& peaks, Bytes states) {
  const auto n = static_cast<double>(peaks.size());
  double batch = 0;
  Bytes memory;
  for (const Peak& peak : peaks) {
    batch += peak.batch / n;
    memory += peak.memory / n;
  }
  double variance = 0;
  Bytes covariance;
  for (const Peak& peak : peaks) {
    variance += (peak.batch - batch) * (peak.batch - batch);
    covariance += (peak.batch - batch) * (peak.memory - memory);
  }
  if (variance <= 0) return through(states, peaks);
  const Bytes slope = std::max(Bytes{}, covariance / variance);
  const Bytes fixed = memory - slope * batch;
  return fixed < states ? through(states, peaks) : Affine{fixed, slope};
}

Bytes usable(Bytes memory) { return memory * (1 - kFragmentation); }

/// What is there at any batch.
MemoryNeed states_of(const JobProfile& job) {
  return {.parameters = job.parameter_bytes.value_or(job.gradient_bytes),
          .gradients = job.gradient_bytes,
          .optimizer = job.optimizer_bytes.value_or(Bytes{})};
}

/// The peak of the smallest batch, not smaller than `batch`, that ran in the worker's memory.
std::optional<Peak> believed_peak(const JobProfile& job, const WorkerMemory& worker, double batch) {
  std::optional<Peak> nearest;
  if (!worker.measured_there || !worker.memory) return nearest;
  for (const Peak& peak : peaks_on(job, worker.device)) {
    if (peak.batch < batch || peak.memory > *worker.memory) continue;
    if (!nearest || peak.batch < nearest->batch) nearest = peak;
  }
  return nearest;
}

/// The largest batch that fits into `memory` by memory_need; no limit where that is not known.
std::optional<int> largest_by_need(const JobProfile& job, const std::string& device, Bytes memory) {
  const auto one = memory_need(job, device, 1);
  if (!memory_verdict(one.value_or(states_of(job)), memory).fits) return std::nullopt;
  double most = std::numeric_limits<int>::max();
  if (one && one->activations > Bytes{}) {
    const Bytes left = usable(memory) - (total(*one) - one->activations);
    // A batch that fills the memory to the last byte must not be lost to rounding.
    constexpr double kRounding = 1e-9;
    most = std::min(most, std::floor(left / one->activations + kRounding));
  }
  return static_cast<int>(std::max(1.0, most));
}

}  // namespace

Bytes total(const MemoryNeed& need) {
  return need.parameters + need.gradients + need.optimizer + need.activations + need.overhead;
}

std::optional<MemoryNeed> memory_need(const JobProfile& job, std::string_view device,
                                      double batch) {
  CHECK(batch > 0);
  const std::vector<Peak> peaks = best_peaks(job, device);
  if (peaks.empty()) return std::nullopt;
  MemoryNeed need = states_of(job);
  const Bytes states = total(need);
  const Affine peak = affine_peak(peaks, states);
  need.activations = batch * peak.per_sample;
  need.overhead = (peak.fixed - states) + kOutsideAllocator + job.gradient_bytes;
  return need;
}

MemoryVerdict memory_verdict(const MemoryNeed& need, Bytes memory) {
  const Bytes needed = total(need);
  return {.fits = needed <= usable(memory), .needed = needed, .available = usable(memory)};
}

std::optional<MemoryVerdict> worker_verdict(const JobProfile& job, const WorkerMemory& worker,
                                            double batch) {
  if (!worker.memory) return std::nullopt;
  const auto need = memory_need(job, worker.device, batch);
  const MemoryVerdict verdict = memory_verdict(need.value_or(states_of(job)), *worker.memory);
  if (verdict.fits && !need) return std::nullopt;
  if (verdict.fits) return verdict;
  const auto peak = believed_peak(job, worker, batch);
  if (!peak) return verdict;
  return MemoryVerdict{.fits = true, .needed = peak->memory, .available = *worker.memory};
}

std::optional<int> largest_batch(const JobProfile& job, const WorkerMemory& worker) {
  int most = std::numeric_limits<int>::max();
  if (job.batch && job.batch->max) most = *job.batch->max;
  if (!worker.memory) return most;
  std::optional<int> largest = largest_by_need(job, worker.device, *worker.memory);
  for (const Peak& peak : peaks_on(job, worker.device)) {
    const bool ran = worker.measured_there && peak.memory <= *worker.memory;
    if (ran) largest = std::max(largest.value_or(1), static_cast<int>(peak.batch));
  }
  if (largest) largest = std::min(*largest, most);
  return largest;
}

}  // namespace stint
