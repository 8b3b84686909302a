#include "measure/tables/lifetime_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <utility>

#include "base/codec_fields.h"
#include "base/csv.h"
#include "base/date.h"
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

Result<double> amount_cell(const Csv& csv, std::size_t i, const char* column, const char* what) {
  const std::string_view text = csv.cell(i, column);
  const auto value = parse_double(text);
  if (value && *value >= 0) return *value;
  return csv.error_at(i, column,
                      fmt::format("must be {} of 0 or more, not '{}'", what, printable(text)));
}

Result<Seconds> seconds_cell(const Csv& csv, std::size_t i, const char* column) {
  const auto value = amount_cell(csv, i, column, "a time in seconds");
  if (!value.ok()) return value.error();
  const std::string wrong = range_problem(Range::kNotNegative, *value,
                                          printable(csv.cell(i, column)), limits_in(kSecond));
  if (!wrong.empty()) return csv.error_at(i, column, wrong);
  return *value * kSecond;
}

Result<std::string> name_cell(const Csv& csv, std::size_t i, const char* column) {
  const std::string_view text = csv.cell(i, column);
  if (text.empty()) return csv.error_at(i, column, "must not be empty");
  return std::string(text);
}

Result<bool> preempted_cell(const Csv& csv, std::size_t i) {
  const std::string_view text = csv.cell(i, "preempted");
  if (text == "0" || text == "1") return text == "1";
  return csv.error_at(
      i, "preempted",
      fmt::format("must be 1 (lost) or 0 (still alive), not '{}'", printable(text)));
}

bool all_blank(const Csv& csv, std::size_t i, const std::vector<const char*>& columns) {
  return std::all_of(columns.begin(), columns.end(),
                     [&](const char* column) { return csv.cell(i, column).empty(); });
}

/// A lifetime that reached Google's limit was not lost before it.
Lifetime limited(Lifetime it) {
  if (it.provider != "gcp") return it;
  if (it.at_most && *it.at_most >= kGoogleLimit) it.at_most.reset();
  it.at_least = std::min(it.at_least, kGoogleLimit);
  return it;
}

Result<Lifetime> read_probed(const Csv& csv, std::size_t i) {
  const auto provider = name_cell(csv, i, "provider");
  if (!provider.ok()) return provider.error();
  const auto device = name_cell(csv, i, "gpu");
  if (!device.ok()) return device.error();
  const auto gpus = count_of(csv.cell(i, "num_gpus"));
  if (!gpus) return csv.error_at(i, "num_gpus", "must be a whole number of 1 or more");
  Lifetime it{.provider = *provider,
              .machine = *device,
              .gpus = *gpus,
              .zone = std::string(csv.cell(i, "zone")),
              .at_least = {},
              .at_most = {}};
  if (all_blank(csv, i, {"last_seen_running_s", "found_gone_s", "preempted"})) return it;
  const auto seen = seconds_cell(csv, i, "last_seen_running_s");
  if (!seen.ok()) return seen.error();
  const auto preempted = preempted_cell(csv, i);
  if (!preempted.ok()) return preempted.error();
  it.at_least = *seen;
  if (*preempted) {
    const auto gone = seconds_cell(csv, i, "found_gone_s");
    if (!gone.ok()) return gone.error();
    if (*gone < *seen) {
      return csv.error_at(i, "found_gone_s", "is before last_seen_running_s");
    }
    it.at_most = *gone;
  }
  return limited(std::move(it));
}

Result<Lifetime> read_exact(const Csv& csv, std::size_t i) {
  const auto machine = name_cell(csv, i, "machine_type");
  if (!machine.ok()) return machine.error();
  Lifetime it{.provider = "gcp",
              .machine = *machine,
              .gpus = 0,
              .zone = std::string(csv.cell(i, "zone")),
              .at_least = {},
              .at_most = {}};
  if (all_blank(csv, i, {"lifetime_s", "preempted"})) return it;
  const auto lived = seconds_cell(csv, i, "lifetime_s");
  if (!lived.ok()) return lived.error();
  const auto preempted = preempted_cell(csv, i);
  if (!preempted.ok()) return preempted.error();
  it.at_least = *lived;
  if (*preempted) it.at_most = *lived;
  return limited(std::move(it));
}

Result<PublishedLosses> read_published(const Csv& csv, std::size_t i) {
  const auto provider = name_cell(csv, i, "provider");
  if (!provider.ok()) return provider.error();
  const auto hours = amount_cell(csv, i, "within_h", "a time in hours");
  if (!hours.ok()) return hours.error();
  if (*hours == 0) return csv.error_at(i, "within_h", "must be above zero");
  PublishedLosses it{.provider = *provider,
                     .within = *hours * kHour,
                     .source = std::string(csv.cell(i, "source"))};
  struct End {
    const char* column;
    double* into;
  };
  for (const End& end : {End{"lost_min_pct", &it.share_min}, End{"lost_max_pct", &it.share_max}}) {
    const auto share = share_of(csv.cell(i, end.column));
    if (!share || !(*share > 0) || !(*share < 1)) {
      return csv.error_at(i, end.column, "must be a percentage above 0 and below 100");
    }
    *end.into = *share;
  }
  if (it.share_max < it.share_min) {
    return csv.error_at(i, "lost_max_pct", "is below lost_min_pct");
  }
  return it;
}

Result<CreationFailure> read_failure(const Csv& csv, std::size_t i) {
  const auto provider = name_cell(csv, i, "provider");
  if (!provider.ok()) return provider.error();
  const std::string_view text = csv.cell(i, "time_utc");
  const auto time = parse_instant(text);
  if (!time) {
    return csv.error_at(
        i, "time_utc",
        fmt::format("must be a time such as 2020-03-15T10:11:21Z, not '{}'", printable(text)));
  }
  return CreationFailure{.provider = *provider,
                         .device = std::string(csv.cell(i, "gpu")),
                         .zone = std::string(csv.cell(i, "zone")),
                         .time = *time};
}

Result<VmStartup> read_startup(const Csv& csv, std::size_t i) {
  const auto device = name_cell(csv, i, "gpu");
  if (!device.ok()) return device.error();
  VmStartup it{.device = *device, .region = std::string(csv.cell(i, "region"))};
  const std::string_view market = csv.cell(i, "market");
  if (market != "on-demand" && market != "preemptible" && market != "spot") {
    return csv.error_at(
        i, "market",
        fmt::format("must be on-demand, preemptible or spot, not '{}'", printable(market)));
  }
  it.market = market == "on-demand" ? Market::kOnDemand : Market::kSpot;
  struct Part {
    const char* column;
    Seconds* into;
  };
  for (const Part& part : {Part{"provisioning_s", &it.provisioning}, Part{"staging_s", &it.staging},
                           Part{"booting_s", &it.booting}}) {
    const auto time = seconds_cell(csv, i, part.column);
    if (!time.ok()) return time.error();
    *part.into = *time;
  }
  return it;
}

Result<CheckpointTime> read_checkpoint(const Csv& csv, std::size_t i) {
  const auto model = name_cell(csv, i, "model");
  if (!model.ok()) return model.error();
  const auto size = amount_cell(csv, i, "checkpoint_MB", "a size in MB");
  if (!size.ok()) return size.error();
  const auto local = seconds_cell(csv, i, "local_write_s");
  if (!local.ok()) return local.error();
  const auto remote = seconds_cell(csv, i, "remote_write_s");
  if (!remote.ok()) return remote.error();
  return CheckpointTime{.model = *model, .size = *size * kMB, .local = *local, .remote = *remote};
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

std::string kind_of(const Lifetime& lifetime) {
  if (lifetime.gpus == 0) return lifetime.machine;
  return fmt::format("{} x{}", lifetime.machine, lifetime.gpus);
}

Result<std::vector<Lifetime>> read_lifetimes(std::string_view text, const std::string& source) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  if (csv->find_column("machine_type")) {
    return read_rows<Lifetime>(*csv, {"machine_type", "zone"}, read_exact);
  }
  if (csv->find_column("num_gpus")) {
    return read_rows<Lifetime>(*csv, {"provider", "gpu", "num_gpus", "zone"}, read_probed);
  }
  return bad_input(fmt::format(
      "{}: its header has neither machine_type nor num_gpus, so it is not a table of lifetimes",
      source));
}

Result<std::vector<PublishedLosses>> read_published_losses(std::string_view text,
                                                           const std::string& source) {
  return read_rows<PublishedLosses>(
      text, source, {"provider", "within_h", "lost_min_pct", "lost_max_pct", "source"},
      read_published);
}

Result<std::vector<CreationFailure>> read_creation_failures(std::string_view text,
                                                            const std::string& source) {
  return read_rows<CreationFailure>(text, source, {"provider", "gpu", "zone", "time_utc"},
                                    read_failure);
}

Result<std::vector<VmStartup>> read_vm_startups(std::string_view text, const std::string& source) {
  return read_rows<VmStartup>(
      text, source, {"gpu", "market", "region", "provisioning_s", "staging_s", "booting_s"},
      read_startup);
}

Result<std::vector<CheckpointTime>> read_checkpoint_times(std::string_view text,
                                                          const std::string& source) {
  return read_rows<CheckpointTime>(
      text, source, {"model", "checkpoint_MB", "local_write_s", "remote_write_s"}, read_checkpoint);
}

std::optional<SpotTable> spot_table_of(std::string_view text) {
  const auto csv = Csv::parse(text, "");
  if (!csv.ok()) return std::nullopt;
  const auto has = [&](const char* column) { return csv->find_column(column).has_value(); };
  if (has("provisioning_s")) return SpotTable::kVmStartups;
  if (has("checkpoint_MB")) return SpotTable::kCheckpointTimes;
  if (has("time_utc")) return SpotTable::kCreationFailures;
  if (has("lost_min_pct")) return SpotTable::kPublishedLosses;
  if (has("machine_type") || has("num_gpus")) return SpotTable::kLifetimes;
  return std::nullopt;
}

Result<RefusalPattern> refusal_pattern(std::span<const CreationFailure> failures,
                                       const std::string& source) {
  std::map<std::pair<std::string, std::string>, std::vector<Seconds>> kinds;
  for (const CreationFailure& it : failures) kinds[{it.provider, it.device}].push_back(it.time);
  if (kinds.empty()) return bad_input(source + ": the table has no failed starts");
  // A kind with a GPU precedes one without.
  const auto most = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return std::pair(!a.first.second.empty(), a.second.size()) <
           std::pair(!b.first.second.empty(), b.second.size());
  });
  std::vector<Seconds> times = most->second;
  std::sort(times.begin(), times.end());
  const Seconds first = times.front();
  for (Seconds& time : times) time -= first;
  return RefusalPattern{.provider = most->first.first,
                        .device = most->first.second,
                        .first = first,
                        .times = std::move(times)};
}

std::vector<bool> refused_ticks(const RefusalPattern& pattern, Seconds gap, int ticks) {
  std::vector<bool> refused(static_cast<std::size_t>(ticks), false);
  for (const Seconds time : pattern.times) {
    if (time >= static_cast<double>(ticks) * gap) break;
    refused[static_cast<std::size_t>(time / gap)] = true;
  }
  return refused;
}

}  // namespace stint
