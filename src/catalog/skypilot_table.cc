#include "catalog/skypilot_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "catalog/machine_filter.h"
#include "catalog/table_row.h"

namespace stint {
namespace {

const std::vector<std::string> kColumns = {"InstanceType", "AcceleratorName", "AcceleratorCount",
                                           "vCPUs",        "MemoryGiB",       "Price",
                                           "SpotPrice",    "Region"};

/// A row that rents a machine.
struct MachineRow {
  VmType type;
  Offer offer;
  int line = 0;
};

/// A row of GCP's table that rents accelerators without a machine.
struct AcceleratorRow {
  Accelerator accelerator;
  Offer offer;
};

/// Region, zone and, in lower case, the name of the accelerator.
using PlacedName = std::tuple<std::string, std::string, std::string>;

struct Rows {
  std::vector<MachineRow> machines;
  std::map<PlacedName, std::vector<AcceleratorRow>> accelerators;
  std::map<std::string, std::size_t> skipped;  // By reason.
  std::map<std::string, std::string> renamed;  // Regions, by the name in the table.
};

/// SkyPilot writes "{'Gpus': [{… 'MemoryInfo': {'SizeInMiB': 16384}}], …}" with single quotes.
std::optional<Bytes> memory_in_gpu_info(std::string_view info) {
  constexpr std::string_view kKey = "SizeInMiB";
  const std::size_t at = info.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = info.substr(at + kKey.size());
  while (!rest.empty() && !is_digit(rest[0])) {
    if (rest[0] == ',' || rest[0] == '}') return std::nullopt;
    rest.remove_prefix(1);
  }
  std::size_t digits = 0;
  while (digits < rest.size() && is_digit(rest[digits])) ++digits;
  const auto size = parse_int(rest.substr(0, digits));
  if (!size || *size == 0) return std::nullopt;
  return *size * kMiB;
}

/// "x86_64" and "arm64" as the catalogue writes them; newer tables have the column.
std::optional<std::string> processor_in(const TableRow& row) {
  const auto text = row.optional_text("Arch");
  if (!text) return std::nullopt;
  const std::string lower = to_lower(*text);
  if (lower == "x86_64" || lower == "amd64" || lower == "x64") return kAmd64;
  if (lower == "arm64" || lower == "aarch64") return kArm64;
  return std::nullopt;
}

/// A number of virtual processors, without a fraction.
std::optional<int> whole_vcpus(TableRow& row) {
  const auto value = row.number("vCPUs", Range::kNotNegative);
  const bool whole = value && *value >= 1 && *value <= 1e6 && std::floor(*value) == *value;
  return whole ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::optional<Price> price_in(TableRow& row, const char* column, const TableOrigin& origin) {
  const auto value = row.quantity(column, kDollar / kHour, Range::kNotNegative);
  if (!value || *value == DollarsPerSecond{}) return std::nullopt;
  return Price{.rate = *value, .date = origin.date, .source = origin.name};
}

/// The name of a region without what separates names in flags and clusters: runs of commas, blanks
/// and slashes are one dash.
std::string plain_region(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const bool separates = is_space(c) || c == ',' || c == '/';
    if (!separates) {
      plain += c;
    } else if (!plain.empty() && plain.back() != '-') {
      plain += '-';
    }
  }
  while (plain.size() > 1 && plain.back() == '-') plain.pop_back();
  return plain;
}

Offer offer_in(TableRow& row, const TableOrigin& origin, Rows& rows) {
  const std::string region = row.required("Region");
  Offer offer{.region = plain_region(region),
              .zone = row.optional_text("AvailabilityZone"),
              .on_demand = price_in(row, "Price", origin),
              .spot = price_in(row, "SpotPrice", origin)};
  if (offer.region != region) rows.renamed.emplace(region, offer.region);
  return offer;
}

void read_accelerators(TableRow& row, const TableOrigin& origin, Rows& rows) {
  const auto accelerator = row.accelerator("AcceleratorName", "AcceleratorCount");
  if (origin.provider != "gcp" || !accelerator) {
    ++rows.skipped["no InstanceType, so no whole machine"];
    return;
  }
  Offer offer = offer_in(row, origin, rows);
  const PlacedName key{offer.region, offer.zone.value_or(""), to_lower(accelerator->name)};
  rows.accelerators[key].push_back({*accelerator, std::move(offer)});
}

void read_row(TableRow& row, const TableOrigin& origin, Rows& rows) {
  const auto accelerators = row.number("AcceleratorCount", Range::kNotNegative);
  if (accelerators && std::floor(*accelerators) != *accelerators) {
    ++rows.skipped["a part of an accelerator"];
    return;
  }
  if (row.text("InstanceType").empty()) return read_accelerators(row, origin, rows);
  VmType type{.provider = origin.provider,
              .name = row.required("InstanceType"),
              .accelerator = row.accelerator("AcceleratorName", "AcceleratorCount"),
              .vcpus = whole_vcpus(row),
              .memory = row.quantity("MemoryGiB", kGiB, Range::kNotNegative),
              .architecture = processor_in(row),
              .source = origin.name};
  if (type.accelerator) type.accelerator->memory = memory_in_gpu_info(row.text("GpuInfo"));
  if (type.memory == Bytes{}) type.memory.reset();
  rows.machines.push_back({std::move(type), offer_in(row, origin, rows), row.line()});
}

/// The price of `wanted` accelerators on one market: of the row with as many, else of one with
/// another number in proportion; of several the higher. Nothing when no row has a price.
std::optional<DollarsPerSecond> accelerator_price(const std::vector<AcceleratorRow>& rows,
                                                  int wanted, std::optional<Price> Offer::*market) {
  std::optional<std::pair<bool, DollarsPerSecond>> best;  // Exact ones come first.
  for (const AcceleratorRow& row : rows) {
    const std::optional<Price>& price = row.offer.*market;
    if (!price) continue;
    const std::pair found(row.accelerator.count == wanted,
                          price->rate * (static_cast<double>(wanted) / row.accelerator.count));
    if (!best || found > *best) best = found;
  }
  return best ? std::optional(best->second) : std::nullopt;
}

/// Adds the accelerators that the machine's name says, and their price; a market without a price
/// of either part has no price. False when none is left.
bool add_accelerators(MachineRow& row, const Rows& rows) {
  const auto built_in = gcp_accelerators(row.type.name);
  if (row.type.accelerator || !built_in) return true;
  row.type.accelerator = built_in;
  const auto found = rows.accelerators.find(
      {row.offer.region, row.offer.zone.value_or(""), to_lower(built_in->name)});
  const std::vector<AcceleratorRow> none;
  const auto& parts = found == rows.accelerators.end() ? none : found->second;
  for (const auto market : {&Offer::on_demand, &Offer::spot}) {
    std::optional<Price>& price = row.offer.*market;
    if (!price) continue;
    const auto more = accelerator_price(parts, built_in->count, market);
    if (!more) {
      price.reset();
      continue;
    }
    price->derived = fmt::format("host {} and accelerators {}", to_text(price->rate, "USD/h"),
                                 to_text(*more, "USD/h"));
    price->rate = price->rate + *more;
  }
  return row.offer.on_demand || row.offer.spot;
}

/// Completes `known` by `more`; false when they contradict each other.
template <class T>
bool complete(std::optional<T>& known, const std::optional<T>& more) {
  if (!known) known = more;
  return !more || *known == *more;
}

bool complete(std::optional<Accelerator>& known, const std::optional<Accelerator>& more) {
  if (!known || !more) {
    if (!known) known = more;
    return true;
  }
  if (known->count != more->count) return false;
  if (names_family(known->name, more->name)) {
    if (!known->memory) known->memory = more->memory;
    return true;
  }
  if (!names_family(more->name, known->name)) return false;
  const std::optional<Bytes> memory = more->memory ? more->memory : known->memory;
  known = more;  // "A100-80GB" says more than "A100".
  known->memory = memory;
  return true;
}

bool complete(VmType& known, const VmType& more) {
  return complete(known.accelerator, more.accelerator) && complete(known.vcpus, more.vcpus) &&
         complete(known.memory, more.memory) && complete(known.architecture, more.architecture);
}

/// The order of rows that repeat a machine and zone: more prices, then the memory of the
/// accelerator, then the higher price.
auto knowledge(const MachineRow& row) {
  const auto rate = [](const std::optional<Price>& price) {
    return price ? price->rate : DollarsPerSecond{};
  };
  const Offer& offer = row.offer;
  return std::tuple(int{offer.on_demand.has_value()} + int{offer.spot.has_value()},
                    row.type.accelerator && row.type.accelerator->memory, rate(offer.on_demand),
                    rate(offer.spot));
}

/// The rows of one machine and zone as one offer: the best row's, with what only others know.
Offer united(std::vector<const MachineRow*> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const MachineRow* a, const MachineRow* b) {
    return knowledge(*a) > knowledge(*b);
  });
  Offer offer = rows[0]->offer;
  for (const MachineRow* row : rows) {
    if (!offer.on_demand) offer.on_demand = row->offer.on_demand;
    if (!offer.spot) offer.spot = row->offer.spot;
  }
  return offer;
}

/// The rows by machine and zone, in the order of their first appearance.
Result<std::vector<VmType>> gather(const std::vector<MachineRow>& rows, const std::string& source) {
  std::vector<VmType> types;
  std::vector<std::vector<std::vector<const MachineRow*>>> groups;  // By type, then offer.
  std::map<std::string, std::size_t> type_at;
  std::map<std::tuple<std::size_t, std::string, std::string>, std::size_t> offer_at;
  for (const MachineRow& row : rows) {
    const auto [type, fresh] = type_at.try_emplace(row.type.name, types.size());
    if (fresh) {
      types.push_back(row.type);
      groups.emplace_back();
    } else if (!complete(types[type->second], row.type)) {
      return bad_input(
          fmt::format("{}:{}: column InstanceType: '{}' has other parts in an earlier row", source,
                      row.line, printable(row.type.name)));
    }
    auto& offers = groups[type->second];
    const auto [offer, first] = offer_at.try_emplace(
        {type->second, row.offer.region, row.offer.zone.value_or("")}, offers.size());
    if (first) offers.emplace_back();
    offers[offer->second].push_back(&row);
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    for (auto& group : groups[i]) types[i].offers.push_back(united(std::move(group)));
  }
  return types;
}

std::vector<std::string> warnings_of(const Rows& rows, std::size_t merged,
                                     const std::string& source) {
  std::vector<std::string> warnings;
  if (merged > 0) {
    warnings.push_back(
        fmt::format("{}: merged {} that {} a machine and zone; the row that knows more counts",
                    source, counted(merged, "row"), merged == 1 ? "repeats" : "repeat"));
  }
  if (!rows.renamed.empty()) {
    const auto& [from, to] = *rows.renamed.begin();
    warnings.push_back(fmt::format("{}: renamed {}: '{}' is {}", source,
                                   counted(rows.renamed.size(), "region"), printable(from),
                                   printable(to)));
  }
  for (const auto& [reason, count] : rows.skipped) {
    warnings.push_back(fmt::format("{}: skipped {}: {}", source, counted(count, "row"), reason));
  }
  return warnings;
}

/// Counts the rows of accelerators that no machine of the table has built in.
void count_unused_accelerators(Rows& rows) {
  std::set<PlacedName> used;
  for (const MachineRow& row : rows.machines) {
    const auto built_in = gcp_accelerators(row.type.name);
    if (!built_in) continue;
    used.emplace(row.offer.region, row.offer.zone.value_or(""), to_lower(built_in->name));
  }
  for (const auto& [key, parts] : rows.accelerators) {
    if (used.contains(key)) continue;
    rows.skipped["accelerators without a machine that has them built in"] += parts.size();
  }
}

void price_whole_machines(Rows& rows) {
  count_unused_accelerators(rows);
  std::vector<MachineRow> whole;
  for (MachineRow& row : rows.machines) {
    if (add_accelerators(row, rows)) {
      whole.push_back(std::move(row));
    } else {
      ++rows.skipped["a host without a price of its accelerators in its zone"];
    }
  }
  rows.machines = std::move(whole);
}

}  // namespace

std::optional<Accelerator> gcp_accelerators(std::string_view machine) {
  // The accelerator of a series is part of its definition: Compute Engine, "Accelerator-optimized
  // machine family". The number is in the name, except for g2, where it follows from the vCPUs.
  struct Series {
    std::string_view prefix;
    const char* accelerator;
  };
  static constexpr std::array<Series, 9> kSeries{{{"a2-highgpu-", "A100"},
                                                  {"a2-megagpu-", "A100"},
                                                  {"a2-ultragpu-", "A100-80GB"},
                                                  {"a3-highgpu-", "H100"},
                                                  {"a3-edgegpu-", "H100"},
                                                  {"a3-megagpu-", "H100-MEGA"},
                                                  {"a3-ultragpu-", "H200"},
                                                  {"a4-highgpu-", "B200"},
                                                  {"a4x-highgpu-", "GB200"}}};
  for (const Series& series : kSeries) {
    if (!machine.starts_with(series.prefix)) continue;
    std::string_view rest = machine.substr(series.prefix.size());
    const std::size_t end = rest.find('g');
    const auto count = parse_int(rest.substr(0, end));
    const bool whole = end != std::string_view::npos && count && *count > 0;
    return whole ? std::optional(Accelerator{.name = series.accelerator, .count = *count})
                 : std::nullopt;
  }
  constexpr std::string_view kG2 = "g2-standard-";
  if (!machine.starts_with(kG2)) return std::nullopt;
  const auto vcpus = parse_int(machine.substr(kG2.size()));
  if (!vcpus) return std::nullopt;
  const int count = *vcpus == 96 ? 8 : *vcpus == 48 ? 4 : *vcpus == 24 ? 2 : 1;
  return Accelerator{.name = "L4", .count = count};
}

Result<Loaded<Catalog>> read_skypilot_table(const Csv& csv, const std::string& source,
                                            const TableOrigin& origin) {
  const Status columns = csv.require_columns(kColumns);
  if (!columns.ok()) return columns.error();
  if (origin.provider.empty()) {
    return bad_usage(fmt::format("{} does not name its provider: add --provider NAME", source));
  }
  Rows rows;
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    TableRow row(csv, i);
    read_row(row, origin, rows);
    if (row.error()) return *row.error();
  }
  if (origin.provider == "gcp") price_whole_machines(rows);
  auto types = gather(rows.machines, source);
  if (!types.ok()) return types.error();
  std::size_t offers = 0;
  for (const VmType& type : *types) offers += type.offers.size();
  Loaded<Catalog> loaded;
  loaded.noun.sources = {{.id = origin.name,
                          .name = "imported from " + origin.name,
                          .url = {},
                          .commit = {},
                          .licence = {},
                          .date = origin.date}};
  loaded.noun.types = std::move(*types);
  loaded.warnings = warnings_of(rows, rows.machines.size() - offers, source);
  return loaded;
}

}  // namespace stint
