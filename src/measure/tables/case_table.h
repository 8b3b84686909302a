#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stint {

/// What a published figure of a training counts.
enum class CaseMetric {
  kSamplesPerSecond,
  kIterationTime,
  kTimeToTrain,
  kTokensPerSecond,
  kScalingEfficiency,  // Speed of a worker over that of one alone.
  kPeakMemory,         // Of one GPU, in GB.
  kOther,
};

/// Whether the figure is the speed or the time of steps.
bool is_step_metric(CaseMetric metric);

/// One published figure of a training: a job on a number of equal VMs.
struct PublishedCase {
  std::size_t row = 0;  // Number in the table, from 0.
  std::string id;       // "hvd396-03".
  std::string group;    // The id without its number: one table or thread of a publisher.
  std::string model;
  std::string task;
  std::string precision;
  std::optional<double> parameters;  // Where the source states them.
  std::optional<int> batch_per_worker;
  std::optional<int> global_batch;  // In samples; absent for tokens.
  std::string machines;             // The VM type where it is stated, else the GPUs of one VM.
  std::optional<int> vms;
  std::optional<int> workers;
  std::string gpu;
  std::string network;  // As stated.
  std::string framework;
  CaseMetric metric = CaseMetric::kOther;
  std::optional<double> value;  // In samples per second or seconds; absent: to be predicted.
  std::string source;
  std::string note;
  std::optional<double> tokens_batch = {};  // A global batch that is stated in tokens.
  std::optional<double> size = {};          // Tokens of a sequence, or pixels of an image's side.
};

/// Reads figures that practitioners published: columns id, model, task, precision, batch_per_gpu,
/// global_batch ("32K", "524288 tokens"), machines, nodes, gpus, gpu, network, framework and
/// metric; seq_or_image, params_m, value, source and note may be missing or blank. Cells that hold
/// no number are unknown; a value that is not above zero is bad input.
Result<std::vector<PublishedCase>> read_published_cases(std::string_view text,
                                                        const std::string& source);

/// The ResNet-50 rows of NVIDIA's throughput table (see read_nvidia_steps) as cases: one example,
/// heading and column is a group, and one machine has the GPUs that the heading names. Rows of
/// other models are left out.
Result<std::vector<PublishedCase>> read_nvidia_cases(std::string_view text,
                                                     const std::string& source);

/// Reads one or the other, told apart by the header (`id` or `example`).
Result<std::vector<PublishedCase>> read_cases(std::string_view text, const std::string& source);

}  // namespace stint
