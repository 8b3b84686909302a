#include "calibrate/device/timm_table_model.h"

#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "catalog/gpu_spelling.h"
#include "measure/tables/timm_table.h"

namespace stint {
namespace {

/// The seconds of a step as a · batch · GMACs + b · batch · activations.
struct TwoConstants {
  double per_gmac = 0;
  double per_activation = 0;
};

/// Least squares of relative errors; a constant that would be negative is zero.
TwoConstants fit_two_constants(std::span<const TimmRow* const> rows) {
  double aa = 0;
  double ab = 0;
  double bb = 0;
  double a = 0;
  double b = 0;
  for (const TimmRow* row : rows) {
    const double per_image = row->step->in(kSecond) / row->batch;
    const double x = *row->gmacs / per_image;
    const double y = *row->activations_m / per_image;
    aa += x * x;
    ab += x * y;
    bb += y * y;
    a += x;
    b += y;
  }
  const double determinant = aa * bb - ab * ab;
  TwoConstants fit;
  if (determinant > 1e-12 * aa * bb) {
    fit = {.per_gmac = (a * bb - b * ab) / determinant,
           .per_activation = (b * aa - a * ab) / determinant};
  }
  if (fit.per_gmac <= 0 || fit.per_activation <= 0) {
    const bool by_gmacs = aa > 0 && (bb == 0 || a * a / aa >= b * b / bb);
    fit = by_gmacs ? TwoConstants{.per_gmac = a / aa} : TwoConstants{.per_activation = b / bb};
  }
  return fit;
}

class TimmTable final : public DeviceTable {
 public:
  explicit TimmTable(const Catalog& catalog) : catalog_(catalog) {}

  Status add(const Csv& csv, const std::string& source, TableRole role) override {
    if (!is_timm_table(csv)) {
      return bad_input(source +
                       ": its header has none of the columns gmacs_forward (training) and gmacs "
                       "with mode (inference), so it is not a table of timm");
    }
    const auto read = read_timm_table(csv);
    if (!read.ok()) return read.error();
    for (const TimmRow& row : *read) {
      const std::string family = timm_family(row.model);
      const char* mode = row.mode == "train" ? "train" : "infer";
      rows_.push_back({.role = role,
                       .gpu = row.gpu,
                       .family = family,
                       .job = family,
                       .groups = {fmt::format("{} {} {}", mode, row.gpu, row.layout)},
                       .measured = row.step});
      timm_.push_back(row);
    }
    return {};
  }

  std::span<const DeviceRow> rows() const override { return rows_; }
  std::vector<std::string> baselines() const override { return {"two-constants"}; }

  Result<std::vector<DeviceForecast>> forecast(const Fold& fold,
                                               std::string_view /*model*/) const override {
    std::vector<const TimmRow*> known;
    for (const std::size_t i : fold.train) {
      const TimmRow& row = timm_[i];
      if (row.step && row.gmacs && row.activations_m && row.mode == "train") known.push_back(&row);
    }
    if (known.empty()) return bad_input("no training row has a time, GMACs and activations");
    const TwoConstants fit = fit_two_constants(known);
    std::vector<DeviceForecast> forecasts;
    for (const std::size_t i : fold.test) {
      const TimmRow& row = timm_[i];
      DeviceForecast& it = forecasts.emplace_back();
      if (!row.gmacs || !row.activations_m) {
        it.note = "the row has no GMACs or activations";
        continue;
      }
      it.time = row.batch * (fit.per_gmac * *row.gmacs + fit.per_activation * *row.activations_m) *
                kSecond;
    }
    return forecasts;
  }

 private:
  [[maybe_unused]] const Catalog& catalog_;
  std::vector<DeviceRow> rows_;
  std::vector<TimmRow> timm_;
};

}  // namespace

std::unique_ptr<DeviceTable> make_timm_table(const Catalog& catalog) {
  return std::make_unique<TimmTable>(catalog);
}

}  // namespace stint
