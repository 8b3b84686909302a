#include "measure/tables/timm_table.h"

#include <fmt/format.h>

#include "base/text.h"
#include "measure/tables/number_cells.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

Result<std::optional<Seconds>> step_cells(const Csv& csv, std::size_t i, const char* rate_column,
                                          double batch) {
  const auto step = maybe_number(csv, i, "step_s");
  if (!step.ok()) return step.error();
  if (*step) return std::optional(**step * kSecond);
  const auto rate = maybe_number(csv, i, rate_column);
  if (!rate.ok()) return rate.error();
  return *rate ? std::optional(batch / **rate * kSecond) : std::nullopt;
}

/// A figure of a shape; one that was rounded to zero says nothing.
Result<std::optional<double>> shape_cell(const Csv& csv, std::size_t i, const char* column) {
  if (parse_double(csv.cell(i, column)) == 0) return std::optional<double>();
  return maybe_number(csv, i, column);
}

Result<TimmRow> read_row(const Csv& csv, std::size_t i) {
  const bool train = csv.find_column("gmacs_forward").has_value();
  TimmRow row{.model = std::string(csv.cell(i, "model")),
              .gpu = std::string(csv.cell(i, "gpu")),
              .precision = std::string(csv.cell(i, "precision")),
              .layout = std::string(csv.cell(i, "layout")),
              .torch = std::string(csv.cell(i, "torch")),
              .mode = train ? "train" : std::string(csv.cell(i, "mode"))};
  if (row.model.empty()) return csv.error_at(i, "model", "must not be empty");
  for (const auto& [column, number] :
       {std::pair("image_size", &row.image_size), std::pair("batch", &row.batch),
        std::pair("params_m", &row.parameters_m)}) {
    const auto value = needed_number(csv, i, column);
    if (!value.ok()) return value.error();
    *number = *value;
  }
  const auto gmacs = shape_cell(csv, i, train ? "gmacs_forward" : "gmacs");
  if (!gmacs.ok()) return gmacs.error();
  row.gmacs = *gmacs;
  const auto kept = shape_cell(csv, i, train ? "activations_m_forward" : "activations_m");
  if (!kept.ok()) return kept.error();
  row.activations_m = *kept;
  const auto step =
      step_cells(csv, i, train ? "train_samples_per_s" : "infer_samples_per_s", row.batch);
  if (!step.ok()) return step.error();
  row.step = *step;
  return row;
}

}  // namespace

bool is_timm_table(const Csv& csv) {
  const bool train = csv.find_column("gmacs_forward").has_value();
  const bool infer = csv.find_column("gmacs").has_value() && csv.find_column("mode").has_value();
  return (train || infer) && csv.find_column("image_size").has_value();
}

Result<std::vector<TimmRow>> read_timm_table(const Csv& csv) {
  return read_rows<TimmRow>(
      csv, {"model", "gpu", "precision", "layout", "torch", "image_size", "batch", "params_m"},
      read_row);
}

std::string timm_family(std::string_view model) {
  std::size_t letters = 0;
  const std::string lower = to_lower(model);
  while (letters < lower.size() && lower[letters] >= 'a' && lower[letters] <= 'z') ++letters;
  return lower.substr(0, letters);
}

}  // namespace stint
