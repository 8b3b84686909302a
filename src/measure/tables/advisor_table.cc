#include "measure/tables/advisor_table.h"

#include <optional>

#include "base/text.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

constexpr const char* kRange = "interruption_monthly_pct_range";

std::optional<double> share_of(std::string_view percent) {
  if (percent == "0") return 0;
  const auto number = positive_of(percent);
  if (!number || *number > 100) return std::nullopt;
  return *number / 100;
}

/// "<5", "5-10" or ">20", in percent.
std::optional<Interruption> band_of(std::string_view text) {
  Interruption band;
  if (text.starts_with('<') || text.starts_with('>')) {
    const auto end = share_of(text.substr(1));
    if (!end) return std::nullopt;
    if (text.front() == '<') {
      band.monthly_max = *end;
    } else {
      band.monthly_min = *end;
    }
    return band;
  }
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto low = share_of(text.substr(0, dash));
  const auto high = share_of(text.substr(dash + 1));
  if (!low || !high || *low > *high) return std::nullopt;
  band.monthly_min = *low;
  band.monthly_max = *high;
  return band;
}

}  // namespace

Result<std::vector<AdvisedBand>> read_advised_bands(std::string_view text,
                                                    const std::string& source) {
  return read_rows<AdvisedBand>(
      text, source, {"region", "instance_type", kRange},
      [&](const Csv& csv, std::size_t i) -> Result<AdvisedBand> {
        auto band = band_of(csv.cell(i, kRange));
        if (!band) return csv.error_at(i, kRange, "must be a range like <5, 5-10 or >20");
        band->source = source;
        return AdvisedBand{.region = std::string(csv.cell(i, "region")),
                           .vm = std::string(csv.cell(i, "instance_type")),
                           .band = std::move(*band)};
      });
}

}  // namespace stint
