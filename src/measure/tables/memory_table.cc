#include "measure/tables/memory_table.h"

#include <fmt/format.h>
#include <utility>

#include "base/csv.h"
#include "base/text.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

Result<int> count_cell(const Csv& csv, std::size_t i, const char* column) {
  const std::string_view text = csv.cell(i, column);
  const auto count = count_of(text);
  if (count) return *count;
  return csv.error_at(
      i, column, fmt::format("must be a whole number of 1 or more, not '{}'", printable(text)));
}

Result<std::int64_t> elements_cell(const Csv& csv, std::size_t i, const char* column) {
  const std::string_view text = csv.cell(i, column);
  if (text == "0") return std::int64_t{0};
  const auto count = whole_of(text);
  if (count) return *count;
  return csv.error_at(
      i, column, fmt::format("must be a whole number of 0 or more, not '{}'", printable(text)));
}

Result<SizedJob> job_cells(const Csv& csv, std::size_t i, const char* model, const char* batch) {
  SizedJob job{.job = std::string(csv.cell(i, model))};
  if (job.job.empty()) return csv.error_at(i, model, "must not be empty");
  if (csv.cell(i, batch).empty()) return job;
  const auto count = count_cell(csv, i, batch);
  if (!count.ok()) return count.error();
  job.batch = *count;
  return job;
}

/// A rate of 0 or more; nothing when the column or the cell is missing.
Result<std::optional<double>> rate_cell(const Csv& csv, std::size_t i, const char* column) {
  const std::string_view text = csv.cell(i, column);
  if (text.empty()) return std::optional<double>();
  const auto rate = parse_double(text);
  if (rate && *rate >= 0) return rate;
  return csv.error_at(i, column,
                      fmt::format("must be a rate of 0 or more, not '{}'", printable(text)));
}

Result<MemoryMark> read_mark(const Csv& csv, std::size_t i) {
  const auto job = job_cells(csv, i, "model", "batch_per_gpu");
  if (!job.ok()) return job.error();
  const auto rate = rate_cell(csv, i, "steps_per_s_all_gpus");
  if (!rate.ok()) return rate.error();
  const auto repeat = rate_cell(csv, i, "steps_per_s_all_gpus_repeat");
  if (!repeat.ok()) return repeat.error();
  MemoryMark mark{.row = i, .job = *job, .device = std::string(csv.cell(i, "gpu"))};
  if (*rate || *repeat) mark.fits = rate->value_or(1) > 0 && repeat->value_or(1) > 0;
  return mark;
}

Result<PairMark> read_pair(const Csv& csv, std::size_t i) {
  const auto first = job_cells(csv, i, "model_a", "batch_a");
  if (!first.ok()) return first.error();
  const auto second = job_cells(csv, i, "model_b", "batch_b");
  if (!second.ok()) return second.error();
  PairMark mark{
      .row = i, .first = *first, .second = *second, .device = std::string(csv.cell(i, "gpu"))};
  const std::string_view oom = csv.cell(i, "oom");
  if (oom.empty()) return mark;
  if (oom != "0" && oom != "1") {
    return csv.error_at(i, "oom", fmt::format("must be 0 or 1, not '{}'", printable(oom)));
  }
  mark.fits = oom == "0";
  return mark;
}

/// "0-15".
std::optional<PlanStage> stage_of(std::string_view text) {
  const std::vector<std::string> ends = split(text, '-');
  if (ends.size() != 2) return std::nullopt;
  const auto first = parse_int(ends[0]);
  const auto last = parse_int(ends[1]);
  if (!first || !last || *first < 0 || *last < *first) return std::nullopt;
  return PlanStage{.layer_first = *first, .layer_last = *last};
}

/// "GH-96x4:tp4"; the name of the device may itself hold an x.
std::optional<StageReplica> replica_of(std::string_view text) {
  constexpr std::string_view kDegree = ":tp";
  const std::size_t degree = text.find(kDegree);
  const std::size_t times = text.substr(0, degree).rfind('x');
  if (degree == std::string_view::npos || times == std::string_view::npos || times == 0) {
    return std::nullopt;
  }
  const auto count = count_of(text.substr(times + 1, degree - times - 1));
  const auto parallel = count_of(text.substr(degree + kDegree.size()));
  if (!count || !parallel) return std::nullopt;
  return StageReplica{.device = std::string(trim(text.substr(0, times))),
                      .count = *count,
                      .tensor_parallel = *parallel};
}

Result<std::vector<PlanStage>> stages_of(const Csv& csv, std::size_t i) {
  std::vector<PlanStage> stages;
  for (const std::string& part : split(csv.cell(i, "layers_per_stage"), '|')) {
    auto stage = stage_of(part);
    if (!stage) {
      return csv.error_at(i, "layers_per_stage",
                          fmt::format("'{}' is not of the form 0-15", printable(part)));
    }
    stages.push_back(std::move(*stage));
  }
  const std::vector<std::string> parts = split(csv.cell(i, "stage_replicas"), '|');
  if (parts.size() != stages.size()) {
    return csv.error_at(i, "stage_replicas",
                        fmt::format("{} for {}", counted(parts.size(), "stage"),
                                    counted(stages.size(), "range") + " of layers"));
  }
  for (std::size_t k = 0; k < parts.size(); ++k) {
    for (const std::string& text : split(parts[k], '&')) {
      auto replica = replica_of(text);
      if (!replica) {
        return csv.error_at(i, "stage_replicas",
                            fmt::format("'{}' is not of the form GH-96x4:tp4", printable(text)));
      }
      stages[k].replicas.push_back(std::move(*replica));
    }
  }
  return stages;
}

Result<PlanMemory> read_plan_row(const Csv& csv, std::size_t i) {
  PlanMemory plan{.cluster = std::string(csv.cell(i, "cluster")),
                  .model = std::string(csv.cell(i, "model"))};
  const auto microbatch = count_cell(csv, i, "microbatch");
  if (!microbatch.ok()) return microbatch.error();
  plan.microbatch = *microbatch;
  const auto global_batch = count_cell(csv, i, "global_batch");
  if (!global_batch.ok()) return global_batch.error();
  plan.global_batch = *global_batch;
  auto stages = stages_of(csv, i);
  if (!stages.ok()) return stages.error();
  plan.stages = std::move(*stages);
  const std::string_view peak = csv.cell(i, "measured_peak_mem_bytes");
  if (peak.empty()) return plan;
  const auto bytes = whole_of(peak);
  if (!bytes) {
    return csv.error_at(i, "measured_peak_mem_bytes", unreadable("number of bytes", peak));
  }
  plan.memory_peak = static_cast<double>(*bytes) * kByte;
  return plan;
}

Result<LayerSize> read_layer(const Csv& csv, std::size_t i) {
  LayerSize size{.model = std::string(csv.cell(i, "model"))};
  const auto microbatch = count_cell(csv, i, "microbatch");
  if (!microbatch.ok()) return microbatch.error();
  size.microbatch = *microbatch;
  const auto layer = parse_int(csv.cell(i, "layer"));
  if (!layer || *layer < 0) return csv.error_at(i, "layer", "must be a whole number of 0 or more");
  size.layer = *layer;
  const auto parameters = elements_cell(csv, i, "params");
  if (!parameters.ok()) return parameters.error();
  size.parameters = *parameters;
  const auto out = elements_cell(csv, i, "activation_out_elems");
  if (!out.ok()) return out.error();
  size.activation_out = *out;
  const auto memory = elements_cell(csv, i, "activation_mem_elems");
  if (!memory.ok()) return memory.error();
  size.activation_memory = *memory;
  return size;
}

}  // namespace

Result<std::vector<MemoryMark>> read_memory_marks(std::string_view text,
                                                  const std::string& source) {
  return read_rows<MemoryMark>(text, source, {"gpu", "model", "batch_per_gpu"}, read_mark);
}

Result<std::vector<PairMark>> read_pair_marks(std::string_view text, const std::string& source) {
  return read_rows<PairMark>(text, source, {"gpu", "model_a", "batch_a", "model_b", "batch_b"},
                             read_pair);
}

Result<std::vector<PlanMemory>> read_plan_memory(std::string_view text, const std::string& source) {
  return read_rows<PlanMemory>(
      text, source,
      {"cluster", "model", "microbatch", "global_batch", "layers_per_stage", "stage_replicas"},
      read_plan_row);
}

Result<std::vector<LayerSize>> read_layer_sizes(std::string_view text, const std::string& source) {
  return read_rows<LayerSize>(
      text, source,
      {"model", "microbatch", "layer", "params", "activation_out_elems", "activation_mem_elems"},
      read_layer);
}

}  // namespace stint
