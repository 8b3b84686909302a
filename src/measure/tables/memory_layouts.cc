#include "measure/tables/memory_layouts.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/check.h"
#include "base/csv.h"
#include "base/text.h"
#include "measure/tables/memory_table.h"
#include "measure/tables/number_cells.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

/// The cells of a row. Reading goes on after the first cell that is wrong, which is remembered.
class MemoryCells {
 public:
  MemoryCells(const Csv& csv, std::size_t row) : csv_(csv), row_(row) {}

  std::string text(const char* column) const { return std::string(csv_.cell(row_, column)); }

  std::optional<double> number(const char* column) {
    auto value = maybe_number(csv_, row_, column);
    if (value.ok()) return *value;
    keep(value.error());
    return std::nullopt;
  }

  double needed(const char* column) {
    auto value = needed_number(csv_, row_, column);
    if (!value.ok()) keep(value.error());
    return value.ok() ? *value : 1;
  }

  std::optional<std::int64_t> whole(const char* column) {
    if (text(column).empty()) return std::nullopt;
    const auto value = whole_of(csv_.cell(row_, column));
    if (!value) keep(wrong(column));
    return value;
  }

  int count(const char* column) {
    const auto value = count_of(csv_.cell(row_, column));
    if (!value) keep(wrong(column));
    return value.value_or(1);
  }

  int zero_stage() {
    const auto stage = parse_int(text("zero_stage"));
    if (stage && *stage >= 0 && *stage <= 3) return *stage;
    keep(csv_.error_at(row_, "zero_stage",
                       fmt::format("must be a stage from 0 to 3, not '{}'",
                                   printable(csv_.cell(row_, "zero_stage")))));
    return 0;
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  Error wrong(const char* column) const {
    return csv_.error_at(row_, column,
                         fmt::format("must be a whole number of 1 or more, not '{}'",
                                     printable(csv_.cell(row_, column))));
  }

  void keep(Error error) {
    if (!error_) error_ = std::move(error);
  }

  const Csv& csv_;
  std::size_t row_;
  std::optional<Error> error_;
};

/// BLOOM's and nanotron's tables share their layout.
MemoryLayoutRow three_axes(MemoryCells& cells) {
  MemoryLayoutRow row;
  row.devices = {cells.text("gpu")};
  row.workers_per_vm = cells.count("gpus_per_node");
  if (const auto billions = cells.number("params_b")) row.model.parameters = *billions * 1e9;
  row.model.layers = cells.whole("layers");
  row.model.hidden = cells.whole("hidden");
  row.model.heads = cells.whole("heads");
  row.sequence = cells.needed("seq");
  row.global_batch = cells.needed("global_batch");
  row.layout.micro_batch = cells.count("micro_batch");
  row.layout.data = cells.count("dp");
  row.layout.tensor = cells.count("tp");
  row.layout.pipeline = cells.count("pp");
  row.layout.zero = cells.zero_stage();
  return row;
}

MemoryLayoutRow bloom_row(MemoryCells& cells) {
  MemoryLayoutRow row = three_axes(cells);
  row.software = "bloom";
  row.date = split(cells.text("notes"), ' ').front();  // A remark may follow.
  row.layout.recompute = Recompute::kFull;
  row.memory = cells.number("memory_gb");
  row.problem = cells.text("caution");
  return row;
}

MemoryLayoutRow nanotron_row(MemoryCells& cells) {
  MemoryLayoutRow row = three_axes(cells);
  row.software = "nanotron";
  row.model.feed_forward = cells.whole("ffn");
  row.model.vocabulary = cells.whole("vocab");
  row.layout.sequence = true;
  row.memory = cells.number("peak_memory_gb");
  return row;
}

Recompute recompute_of(const std::string& text) {
  const std::string words = to_lower(text);
  if (words.find("full") != std::string::npos) return Recompute::kFull;
  return words.find("selective") != std::string::npos ? Recompute::kSelective : Recompute::kNone;
}

MemoryLayoutRow fsdp_row(MemoryCells& cells) {
  MemoryLayoutRow row;
  row.software = cells.text("source");
  row.devices = {cells.text("gpu")};
  row.workers_per_vm = cells.count("gpus_per_node");
  row.model.name = cells.text("model");
  row.sequence = cells.needed("seq");
  row.layout.micro_batch = cells.count("local_batch");
  row.layout.data = cells.count("fsdp");
  row.layout.tensor = cells.count("tp");
  row.layout.pipeline = cells.count("pp");
  row.layout.context = cells.count("cp");
  row.layout.sequence = row.layout.tensor > 1;
  row.layout.zero = 3;
  const std::string kept = cells.text("activation_checkpointing");
  row.layout.recompute = recompute_of(kept);
  row.layout.hybrid = kept.find("HSDP") != std::string::npos;
  row.global_batch = cells.number("global_batch")
                         .value_or(static_cast<double>(row.layout.micro_batch) * row.layout.data);
  row.unit = kGiB;
  row.memory = cells.number("memory_gib");
  return row;
}

MemoryLayoutRow sailor_row(const PlanMemory& plan) {
  MemoryLayoutRow row;
  row.software = "sailor " + plan.cluster;
  row.model.name = plan.model;
  row.global_batch = plan.global_batch;
  row.layout.micro_batch = plan.microbatch;
  row.layout.pipeline = static_cast<int>(plan.stages.size());
  row.layout.data = static_cast<int>(plan.stages.front().replicas.size());
  row.layout.tensor = plan.stages.front().replicas.front().tensor_parallel;
  for (const PlanStage& stage : plan.stages) {
    row.stages.push_back({stage.layer_first, stage.layer_last});
    for (const StageReplica& it : stage.replicas) {
      const bool seen =
          std::find(row.devices.begin(), row.devices.end(), it.device) != row.devices.end();
      if (!seen) row.devices.push_back(it.device);
      // The fullest worker is one of the fewest that share a stage.
      row.layout.tensor = std::min(row.layout.tensor, it.tensor_parallel);
    }
  }
  row.unit = kByte;
  if (plan.memory_peak) row.memory = plan.memory_peak->in(kByte);
  return row;
}

Result<std::vector<MemoryLayoutRow>> read_plans(std::string_view text, const std::string& source) {
  const auto plans = read_plan_memory(text, source);
  if (!plans.ok()) return plans.error();
  std::vector<MemoryLayoutRow> rows;
  for (const PlanMemory& plan : *plans) rows.push_back(sailor_row(plan));
  return rows;
}

Result<std::vector<MemoryLayoutRow>> read_cells(std::string_view text, const std::string& source,
                                                const std::vector<std::string>& columns,
                                                MemoryLayoutRow (*read)(MemoryCells&)) {
  return read_rows<MemoryLayoutRow>(
      text, source, columns, [read](const Csv& csv, std::size_t i) -> Result<MemoryLayoutRow> {
        MemoryCells cells(csv, i);
        MemoryLayoutRow row = read(cells);
        if (cells.error()) return *cells.error();
        return row;
      });
}

Result<std::vector<MemoryLayoutRow>> read_any(std::string_view text, const std::string& source,
                                              MemoryFormat format) {
  switch (format) {
    case MemoryFormat::kBloom:
      return read_cells(text, source,
                        {"gpu", "gpus_per_node", "params_b", "layers", "hidden", "heads", "seq",
                         "global_batch", "micro_batch", "dp", "tp", "pp", "zero_stage", "notes"},
                        bloom_row);
    case MemoryFormat::kNanotron:
      return read_cells(
          text, source,
          {"gpu", "gpus_per_node", "params_b", "layers", "hidden", "heads", "ffn", "vocab", "seq",
           "global_batch", "micro_batch", "dp", "tp", "pp", "zero_stage"},
          nanotron_row);
    case MemoryFormat::kFsdpTables:
      return read_cells(text, source,
                        {"source", "gpu", "gpus_per_node", "model", "seq", "local_batch",
                         "global_batch", "fsdp", "tp", "pp", "cp", "activation_checkpointing"},
                        fsdp_row);
    case MemoryFormat::kSailor:
      return read_plans(text, source);
  }
  CHECK(false);
}

}  // namespace

std::span<const EnumName<MemoryFormat>> names_of(MemoryFormat /*type*/) {
  static constexpr EnumName<MemoryFormat> kNames[] = {{MemoryFormat::kBloom, "bloom"},
                                                      {MemoryFormat::kNanotron, "nanotron"},
                                                      {MemoryFormat::kFsdpTables, "fsdp-tables"},
                                                      {MemoryFormat::kSailor, "sailor"}};
  return kNames;
}

Result<std::vector<MemoryLayoutRow>> read_memory_layouts(std::string_view text,
                                                         const std::string& source,
                                                         MemoryFormat format) {
  auto rows = read_any(text, source, format);
  if (!rows.ok()) return rows.error();
  for (MemoryLayoutRow& row : *rows) row.format = format;
  return rows;
}

}  // namespace stint
