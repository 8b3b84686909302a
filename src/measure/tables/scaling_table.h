#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec_fields.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// One training of a published benchmark on a cluster of equal VMs. Its batch and its layout belong
/// to the cluster.
struct ScalingRow {
  std::string job;      // Benchmark or model; unit of held-out sets.
  std::string owner;    // Who ran it and how: the submitter, or the recipe with its layout.
  std::string edition;  // Round or release of the table.
  std::string device;   // Accelerator with its precision, where the table has one.
  std::string family;   // Devices that differ in form or memory only have one family.
  int workers = 1;
  int vms = 1;
  int workers_per_vm = 1;
  double global_batch = 1;
  double micro_steps = 1;                 // Of one step.
  double degree = 1;                      // Workers that hold one copy of the model.
  std::optional<double> parameters;       // Trained ones, where the name of the model has them.
  std::optional<double> tokens;           // Of one sample.
  std::optional<BytesPerSecond> network;  // Of one VM, one direction.
  std::optional<Seconds> time;            // Of a step; absent in rows that are to be predicted.
  std::string unmeasured = {};            // Reason why the measured columns cannot be used.
  std::string unusable = {};              // Reason why nothing can be predicted for this row.
  int line = 0;                           // Line in its file, from 1.
};

/// Samples of one step per worker. A worker takes a whole sample at least, unless a whole number of
/// workers shares one: where there are more workers than samples the rest are idle.
double samples_per_worker(const ScalingRow& row);

/// Rows of one series differ in the size of the cluster only: "owner | job | device | edition".
std::string series_of(const ScalingRow& row);

/// Whether the job trains a language model, by the name of its benchmark.
bool is_language_model(const ScalingRow& row);

/// The network of one VM as a free text describes it, such as "Storage: 2x …, Compute: 8x
/// ConnectX-7 IB NDR 400Gb/s": adapters times rate of the fastest part that is for compute. Nothing
/// where no adapter with a rate is named.
std::optional<BytesPerSecond> described_network(std::string_view text);

/// Reads clusters of MLPerf Training, one row per data row, in order: round, submitter, benchmark,
/// accelerator, gpu, accelerators, nodes, accelerators_per_node, global_batch, grad_accum, and tp,
/// pp, cp and networking, which may be blank. The time is step_s, else global_batch /
/// samples_per_s; both may be missing or blank. Where the layout is blank, the workers to a copy of
/// the model are accelerators × grad_accum / global_batch, if that is a whole number. Rows with a
/// blank or unreadable key are unusable; a table without the key columns is bad input.
Result<std::vector<ScalingRow>> read_mlperf_clusters(std::string_view text,
                                                     const std::string& source);

/// Reads NVIDIA's step times by cluster size (dgxc-benchmarking): tag, readme, model, precision,
/// gpu, gpus, global_batch, seq, and tp, pp, cp, vp, ep, micro_batch, grad_accum and layers, which
/// may be blank, and step_s, which may be missing or blank. VMs have eight GPUs. A layout of more
/// workers than the cluster has is taken as not stated.
Result<std::vector<ScalingRow>> read_dgxc_steps(std::string_view text, const std::string& source);

enum class ScalingFormat { kMlperf, kDgxc };

std::span<const EnumName<ScalingFormat>> names_of(ScalingFormat type);

/// Reads a table of a given format; see the readers of each.
Result<std::vector<ScalingRow>> read_scaling(ScalingFormat format, std::string_view text,
                                             const std::string& source);

}  // namespace stint
