#include "measure/tables/pair_table.h"

#include <fmt/format.h>
#include <utility>

#include "base/csv.h"
#include "base/text.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

/// A rate of 0 or more; nothing when the column or the cell is missing.
Result<std::optional<PerSecond>> rate_cell(const Csv& csv, std::size_t i,
                                           const std::string& column) {
  const std::string_view text = csv.cell(i, column);
  if (text.empty()) return std::optional<PerSecond>();
  const auto rate = parse_double(text);
  const bool zero = rate && *rate == 0;
  if (zero || (rate && time_per_step(1, *rate))) return std::optional(*rate / kSecond);
  return csv.error_at(i, column,
                      fmt::format("must be a rate of 0 or more, not '{}'", printable(text)));
}

Result<std::optional<bool>> flag_cell(const Csv& csv, std::size_t i, const char* column) {
  const std::string_view text = csv.cell(i, column);
  if (text.empty()) return std::optional<bool>();
  if (text == "0" || text == "1") return std::optional(text == "1");
  return csv.error_at(i, column, fmt::format("must be 0 or 1, not '{}'", printable(text)));
}

/// A whole number of 1 or more; 1 when the column or the cell is missing.
Result<int> count_cell(const Csv& csv, std::size_t i, const std::string& column) {
  const std::string_view text = csv.cell(i, column);
  if (text.empty()) return 1;
  if (const auto count = count_of(text)) return *count;
  return csv.error_at(
      i, column, fmt::format("must be a whole number of 1 or more, not '{}'", printable(text)));
}

Result<std::string> name_cell(const Csv& csv, std::size_t i, const std::string& column) {
  const std::string_view text = csv.cell(i, column);
  if (text.empty()) return csv.error_at(i, column, "must not be empty");
  return std::string(text);
}

Result<SizedJob> job_cells(const Csv& csv, std::size_t i, const std::string& model,
                           const std::string& batch) {
  auto name = name_cell(csv, i, model);
  if (!name.ok()) return name.error();
  const auto count = count_cell(csv, i, batch);
  if (!count.ok()) return count.error();
  return SizedJob{.job = std::move(*name), .batch = *count};
}

bool is_zero(const std::optional<PerSecond>& rate) { return rate && *rate == PerSecond{}; }

std::optional<PerSecond> positive(const std::optional<PerSecond>& rate) {
  return is_zero(rate) ? std::nullopt : rate;
}

/// The cells of job `which`, a or b; a packed rate of 0 is kept.
Result<PackedSide> read_side(const Csv& csv, std::size_t i, char which, bool in_steps) {
  const char* unit = in_steps ? "_steps_per_s" : "";
  auto job = job_cells(csv, i, fmt::format("model_{}", which), fmt::format("batch_{}", which));
  if (!job.ok()) return job.error();
  const auto alone = rate_cell(csv, i, fmt::format("isolated_{}{}", which, unit));
  if (!alone.ok()) return alone.error();
  const auto packed = rate_cell(csv, i, fmt::format("packed_{}{}", which, unit));
  if (!packed.ok()) return packed.error();
  return PackedSide{.job = std::move(*job), .alone = positive(*alone), .packed = *packed};
}

Result<PackedPair> read_pair(const Csv& csv, std::size_t i) {
  PackedPair pair{.in_steps = csv.find_column("batch_a").has_value()};
  auto device = name_cell(csv, i, "gpu");
  if (!device.ok()) return device.error();
  pair.device = std::move(*device);
  auto first = read_side(csv, i, 'a', pair.in_steps);
  if (!first.ok()) return first.error();
  auto second = read_side(csv, i, 'b', pair.in_steps);
  if (!second.ok()) return second.error();
  const auto oom = flag_cell(csv, i, "oom");
  if (!oom.ok()) return oom.error();
  const auto capped = flag_cell(csv, i, "capped_to_isolated");
  if (!capped.ok()) return capped.error();
  const auto gpus = count_cell(csv, i, "num_gpus_each");
  if (!gpus.ok()) return gpus.error();
  if (first->packed && second->packed)
    pair.fits = !is_zero(first->packed) || !is_zero(second->packed);
  if (*oom) pair.fits = !**oom;
  first->packed = positive(first->packed);
  second->packed = positive(second->packed);
  pair.first = std::move(*first);
  pair.second = std::move(*second);
  pair.capped_to_isolated = oom->value_or(false) ? false : capped->value_or(false);
  pair.gpus_each = *gpus;
  return pair;
}

Result<IsolatedRate> read_alone(const Csv& csv, std::size_t i) {
  auto job = job_cells(csv, i, "model", "batch_per_gpu");
  if (!job.ok()) return job.error();
  auto device = name_cell(csv, i, "gpu");
  if (!device.ok()) return device.error();
  const auto gpus = count_cell(csv, i, "num_gpus");
  if (!gpus.ok()) return gpus.error();
  const auto rate = rate_cell(csv, i, "steps_per_s_all_gpus");
  if (!rate.ok()) return rate.error();
  const auto repeat = rate_cell(csv, i, "steps_per_s_all_gpus_repeat");
  if (!repeat.ok()) return repeat.error();
  const auto one_server = flag_cell(csv, i, "consolidated");
  if (!one_server.ok()) return one_server.error();
  IsolatedRate row{.job = std::move(*job), .device = std::move(*device), .gpus = *gpus};
  if (*rate || *repeat) row.fits = !is_zero(*rate) && !is_zero(*repeat);
  if (*gpus == 1) row.alone = positive(*rate);
  if (one_server->value_or(true) && positive(*rate)) row.each_in_server = **rate / *gpus;
  return row;
}

}  // namespace

Result<std::vector<PackedPair>> read_packed_pairs(std::string_view text,
                                                  const std::string& source) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  std::vector<std::string> columns{"gpu", "model_a", "model_b"};
  if (csv->find_column("batch_a") || csv->find_column("batch_b")) {
    columns.insert(columns.end(), {"batch_a", "batch_b"});
  }
  return read_rows<PackedPair>(*csv, columns, read_pair);
}

Result<std::vector<IsolatedRate>> read_isolated_rates(std::string_view text,
                                                      const std::string& source) {
  return read_rows<IsolatedRate>(text, source, {"gpu", "model", "batch_per_gpu", "num_gpus"},
                                 read_alone);
}

}  // namespace stint
