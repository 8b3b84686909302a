#include "measure/sharded/sharded_table.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/csv.h"
#include "base/text.h"
#include "measure/sharded/sharded_cells.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

bool is_blank(std::string_view cell) {
  return cell.empty() || cell == "n/a" || cell == "nan" || cell == "-";
}

/// "8.0" as "8": tables with blanks print counts as fractions.
std::string_view without_fraction(std::string_view cell) {
  return cell.ends_with(".0") ? cell.substr(0, cell.size() - 2) : cell;
}

}  // namespace

bool ShardedCells::blank(std::string_view column) const { return is_blank(text(column)); }

void ShardedCells::reject(std::string reason) {
  if (row_.unusable.empty()) row_.unusable = std::move(reason);
}

void ShardedCells::complain(std::string_view column) {
  const std::string_view cell = text(column);
  reject(is_blank(cell) ? fmt::format("{} is blank", column) : unreadable(column, cell));
}

int ShardedCells::count(std::string_view column) {
  const auto value = count_of(without_fraction(text(column)));
  if (!value) complain(column);
  return value.value_or(1);
}

int ShardedCells::count(std::string_view column, int otherwise) {
  return blank(column) ? otherwise : count(column);
}

double ShardedCells::number(std::string_view column) {
  constexpr double kMost = 1e13;  // No size of a model or a batch is larger.
  const auto value = positive_of(text(column));
  if (!value || *value > kMost) complain(column);
  return value && *value <= kMost ? *value : 1;
}

double ShardedCells::number(std::string_view column, double otherwise) {
  return blank(column) ? otherwise : number(column);
}

int ShardedCells::zero_stage(std::string_view column, int otherwise) {
  if (blank(column)) return otherwise;
  const std::string_view cell = without_fraction(text(column));
  if (cell.size() == 1 && cell[0] >= '0' && cell[0] <= '3') return cell[0] - '0';
  complain(column);
  return otherwise;
}

void ShardedCells::set_time(std::initializer_list<std::string_view> columns) {
  for (const std::string_view column : columns) {
    if (blank(column)) continue;
    row_.time = time_of(text(column), kSecond);
    if (!row_.time) row_.unmeasured = unreadable(column, text(column));
    return;
  }
}

void ShardedCells::set_time_from_rate(std::string_view column, double amount) {
  if (blank(column)) return;
  if (const auto rate = positive_of(text(column))) row_.time = time_per_step(amount, *rate);
  if (!row_.time) row_.unmeasured = unreadable(column, text(column));
}

void ShardedCells::check_layout() {
  const ParallelLayout& it = row_.layout;
  // As a number that cannot overflow.
  const double product = static_cast<double>(it.data) * it.tensor * it.pipeline * it.context;
  if (product != row_.gpus) {
    reject(fmt::format("the degrees of {} do not multiply to {} GPUs", to_text(row_.layout),
                       row_.gpus));
  }
  if (row_.layout.pipeline > row_.shape.layers) reject("there are more stages than layers");
}

std::span<const EnumName<ShardedFormat>> names_of(ShardedFormat /*type*/) {
  static constexpr EnumName<ShardedFormat> kNames[] = {
      {ShardedFormat::kVtrain, "vtrain"},       {ShardedFormat::kFoundry, "llm-foundry"},
      {ShardedFormat::kLucie, "lucie"},         {ShardedFormat::kBloom, "bloom"},
      {ShardedFormat::kNanotron, "nanotron"},   {ShardedFormat::kFsdp, "fsdp-tables"},
      {ShardedFormat::kMorphling, "morphling"}, {ShardedFormat::kSailor, "sailor"},
      {ShardedFormat::kNemo, "nemo"},           {ShardedFormat::kDgxc, "dgxc"}};
  return kNames;
}

Result<std::vector<ShardedRow>> read_sharded(ShardedFormat format, std::string_view text,
                                             const std::string& source) {
  const std::vector<std::string> degrees{"gpus", "tp", "dp", "pp", "global_batch"};
  const auto with = [](std::vector<std::string> columns, std::initializer_list<const char*> more) {
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
  };
  const auto read = [&](const std::vector<std::string>& columns, auto reader) {
    return read_rows<ShardedRow>(text, source, columns, reader);
  };
  switch (format) {
    case ShardedFormat::kVtrain:
      return read(with(degrees, {"micro_batch", "layers", "hidden", "heads", "seq"}), vtrain_row);
    case ShardedFormat::kFoundry:
      return read({"gpu", "gpus", "model", "layers", "hidden", "heads", "seq", "micro_batch",
                   "global_batch", "sharding", "activation_checkpointing"},
                  foundry_row);
    case ShardedFormat::kLucie:
      return read(with(degrees, {"layers", "hidden", "heads", "seq", "zero_stage"}), lucie_row);
    case ShardedFormat::kBloom:
      return read(with(degrees, {"params_b", "seq", "micro_batch", "zero_stage"}), bloom_row);
    case ShardedFormat::kNanotron:
      return read(with(degrees, {"params_b", "layers", "hidden", "heads", "seq", "zero_stage"}),
                  nanotron_row);
    case ShardedFormat::kFsdp:
      return read({"source", "gpu", "gpus", "model", "seq", "local_batch", "fsdp", "tp"}, fsdp_row);
    case ShardedFormat::kMorphling:
      return read({"model", "global_batch", "placement", "gpus", "plan"}, morphling_row);
    case ShardedFormat::kSailor:
      return read({"cluster", "model", "nodes", "gpus", "pipeline_stages", "data_parallel",
                   "microbatch", "global_batch", "stage_replicas"},
                  sailor_row);
    case ShardedFormat::kNemo:
      return read({"task", "system", "model", "gpus", "global_batch", "seq", "tp", "pp"}, nemo_row);
    case ShardedFormat::kDgxc:
      return read({"model", "precision", "gpu", "gpus", "global_batch", "seq", "tp", "pp"},
                  dgxc_sharded_row);
  }
  CHECK(false);
  return std::vector<ShardedRow>();
}

}  // namespace stint
