#include "catalog/table_format.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "base/csv.h"
#include "base/text.h"

namespace stint {
namespace {

const std::vector<std::string> kSkyPilotColumns = {
    "InstanceType", "AcceleratorName", "AcceleratorCount", "vCPUs",
    "MemoryGiB",    "Price",           "SpotPrice",        "Region"};

const std::vector<std::string> kOwnColumns = {"provider",
                                              "region",
                                              "zone",
                                              "name",
                                              "accelerator",
                                              "accelerator_count",
                                              "accelerator_memory_bytes",
                                              "gpu",
                                              "vcpus",
                                              "memory_bytes",
                                              "network_baseline_bytes_per_s",
                                              "network_peak_bytes_per_s",
                                              "network_transport",
                                              "network_rdma_bytes_per_s",
                                              "network_gpu_direct",
                                              "network_flow_bytes_per_s",
                                              "network_flow_placed_bytes_per_s",
                                              "network_source",
                                              "on_demand_usd_per_h",
                                              "on_demand_date",
                                              "on_demand_source",
                                              "on_demand_derived",
                                              "spot_usd_per_h",
                                              "spot_date",
                                              "spot_source",
                                              "spot_derived",
                                              "interruption_monthly_min",
                                              "interruption_monthly_max",
                                              "interruption_date",
                                              "interruption_source",
                                              "quota_class"};

const std::vector<std::string> kOwnRequired = {"provider", "region", "name"};

/// Reads the cells of one row and keeps the first error.
class RowReader {
 public:
  RowReader(const Csv& csv, std::size_t row) : csv_(csv), row_(row) {}

  const std::optional<Error>& error() const { return error_; }

  std::string text(const char* column) const { return std::string(csv_.cell(row_, column)); }

  std::optional<std::string> optional_text(const char* column) const {
    std::string value = text(column);
    return value.empty() ? std::nullopt : std::optional(std::move(value));
  }

  std::string required(const char* column) {
    std::string value = text(column);
    if (value.empty()) fail(column, "must not be empty");
    return value;
  }

  std::optional<double> number(const char* column, Range range, NumberLimits limits = {}) {
    const std::string value = text(column);
    if (value.empty()) return std::nullopt;
    const auto parsed = parse_double(value);
    if (!parsed) {
      fail(column, fmt::format("'{}' is not a number; leave the cell empty if it is unknown",
                               printable(value)));
      return std::nullopt;
    }
    const std::string wrong = range_problem(range, *parsed, printable(value), limits);
    if (!wrong.empty()) fail(column, wrong);
    return parsed;
  }

  std::optional<int> count(const char* column) {
    const auto value = number(column, Range::kNotNegative, {.max = kCountMax});
    if (!value || *value == 0 || error_) return std::nullopt;
    const auto whole = static_cast<int>(*value);
    if (*value != whole) fail(column, fmt::format("must be a whole number, not {}", *value));
    return whole;
  }

  template <class Q>
  std::optional<Q> quantity(const char* column, Q unit, Range range = Range::kPositive) {
    const auto value = number(column, range, limits_in(unit));
    if (!value) return std::nullopt;
    return *value * unit;
  }

  std::optional<bool> yes_or_no(const char* column) {
    const std::string value = text(column);
    if (!value.empty() && value != "yes" && value != "no") {
      fail(column, fmt::format("must be yes or no, not '{}'", printable(value)));
    }
    return value.empty() ? std::nullopt : std::optional(value == "yes");
  }

  Date date(const char* column, const Date& fallback) {
    const std::string value = text(column);
    if (value.empty()) return fallback;
    const auto parsed = parse_date(value);
    if (!parsed.ok()) {
      fail(column, parsed.error().message);
      return fallback;
    }
    return *parsed;
  }

  void fail(const char* column, std::string_view message) {
    if (!error_) error_ = csv_.error_at(row_, column, message);
  }

 private:
  const Csv& csv_;
  std::size_t row_;
  std::optional<Error> error_;
};

bool same_price(const std::optional<Price>& a, const std::optional<Price>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->rate == b->rate;
}

bool same_parts(const VmType& a, const VmType& b) {
  const auto accelerator = [](const VmType& type) {
    return type.accelerator ? std::pair(type.accelerator->name, type.accelerator->count)
                            : std::pair(std::string(), 0);
  };
  return accelerator(a) == accelerator(b) && a.vcpus == b.vcpus && a.memory == b.memory;
}

/// Groups rows into types with offers.
class Collector {
 public:
  explicit Collector(const TableOrigin& origin) : origin_(origin) { add_source(origin.name); }

  const TableOrigin& origin() const { return origin_; }

  /// The id of a source that a row names; the table itself when it names none.
  std::string source(std::string_view name) {
    const std::string id(name.empty() ? std::string_view(origin_.name) : name);
    add_source(id);
    return id;
  }

  /// Adds a row; its errors are reported through `row`.
  void add(VmType type, Offer offer, RowReader& row, const char* name_column) {
    const auto key = std::pair(type.provider, type.name);
    const auto [found, added] = index_.try_emplace(key, catalog_.types.size());
    if (added) catalog_.types.push_back(type);
    VmType& known = catalog_.types[found->second];
    if (!same_parts(known, type)) {
      return row.fail(name_column,
                      fmt::format("'{}' differs in an earlier row", printable(type.name)));
    }
    if (known.accelerator && !known.accelerator->memory) {
      known.accelerator->memory = type.accelerator->memory;
    }
    const auto twice = std::find_if(known.offers.begin(), known.offers.end(), [&](const Offer& it) {
      return it.region == offer.region && it.zone == offer.zone;
    });
    if (twice == known.offers.end()) {
      known.offers.push_back(std::move(offer));
    } else if (!same_price(twice->on_demand, offer.on_demand) ||
               !same_price(twice->spot, offer.spot)) {
      row.fail(name_column, fmt::format("'{}' has other prices in an earlier row of {}",
                                        printable(type.name), printable(offer.region)));
    }
  }

  void skip(const char* reason) { ++skipped_[reason]; }

  Loaded<Catalog> take(const std::string& file) {
    Loaded<Catalog> loaded{std::move(catalog_), {}};
    for (const auto& [reason, count] : skipped_) {
      loaded.warnings.push_back(
          fmt::format("{}: skipped {}: {}", file, counted(count, "row"), reason));
    }
    return loaded;
  }

 private:
  void add_source(const std::string& id) {
    const bool known = std::any_of(catalog_.sources.begin(), catalog_.sources.end(),
                                   [&](const Source& source) { return source.id == id; });
    if (known) return;
    const std::string name = id == origin_.name ? "imported from " + id : id;
    catalog_.sources.push_back({.id = id, .name = name, .date = origin_.date});
  }

  TableOrigin origin_;
  Catalog catalog_;
  std::map<std::pair<std::string, std::string>, std::size_t> index_;
  std::map<std::string, std::size_t> skipped_;
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

/// The accelerators of a row: a name and a count belong together.
std::optional<Accelerator> accelerator_of(RowReader& row, const char* name_column,
                                          const char* count_column) {
  const auto name = row.optional_text(name_column);
  const auto count = row.count(count_column);
  if (name && !count)
    row.fail(count_column, fmt::format("the number of {} is missing", printable(*name)));
  if (!name && count) row.fail(name_column, "must not be empty beside a count");
  if (!name || !count) return std::nullopt;
  return Accelerator{.name = *name, .count = *count};
}

/// A number of virtual processors, without a fraction.
std::optional<int> whole_vcpus(RowReader& row) {
  const auto value = row.number("vCPUs", Range::kNotNegative);
  const bool whole = value && *value >= 1 && *value <= 1e6 && std::floor(*value) == *value;
  return whole ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::optional<Price> skypilot_price(RowReader& row, const char* column, Collector& collector) {
  const auto value = row.quantity(column, kDollar / kHour, Range::kNotNegative);
  if (!value || *value == DollarsPerSecond{}) return std::nullopt;
  return Price{.rate = *value, .date = collector.origin().date, .source = collector.origin().name};
}

void add_skypilot_row(RowReader& row, Collector& collector) {
  const auto accelerators = row.number("AcceleratorCount", Range::kNotNegative);
  if (row.text("InstanceType").empty()) {
    return collector.skip("no InstanceType, so no whole machine");
  }
  if (accelerators && std::floor(*accelerators) != *accelerators) {
    return collector.skip("a part of an accelerator");
  }
  VmType type{.provider = collector.origin().provider,
              .name = row.required("InstanceType"),
              .accelerator = accelerator_of(row, "AcceleratorName", "AcceleratorCount"),
              .vcpus = whole_vcpus(row),
              .memory = row.quantity("MemoryGiB", kGiB, Range::kNotNegative),
              .source = collector.origin().name};
  if (type.accelerator) type.accelerator->memory = memory_in_gpu_info(row.text("GpuInfo"));
  if (type.memory == Bytes{}) type.memory.reset();
  Offer offer{.region = row.required("Region"),
              .zone = row.optional_text("AvailabilityZone"),
              .on_demand = skypilot_price(row, "Price", collector),
              .spot = skypilot_price(row, "SpotPrice", collector)};
  if (!row.error()) collector.add(std::move(type), std::move(offer), row, "InstanceType");
}

/// The columns of one price in our own table.
struct PriceColumns {
  const char* price;
  const char* date;
  const char* source;
  const char* derived;
};

std::optional<Price> own_price(RowReader& row, const PriceColumns& columns, Collector& collector) {
  const auto value = row.number(columns.price, Range::kPositive);
  if (!value) return std::nullopt;
  return Price{.rate = *value * kDollar / kHour,
               .date = row.date(columns.date, collector.origin().date),
               .source = collector.source(row.text(columns.source)),
               .derived = row.optional_text(columns.derived)};
}

std::optional<Interruption> own_interruption(RowReader& row, Collector& collector) {
  const auto low = row.number("interruption_monthly_min", Range::kFraction);
  const auto high = row.number("interruption_monthly_max", Range::kFraction);
  if (!low && high) row.fail("interruption_monthly_min", "must not be empty beside a maximum");
  if (!low) return std::nullopt;
  if (high && *high < *low)
    row.fail("interruption_monthly_max", "must not be less than the minimum");
  return Interruption{.monthly_min = *low,
                      .monthly_max = high,
                      .date = row.date("interruption_date", collector.origin().date),
                      .source = collector.source(row.text("interruption_source"))};
}

std::optional<Transport> own_transport(RowReader& row) {
  constexpr const char* kColumn = "network_transport";
  const auto name = row.optional_text(kColumn);
  if (!name) return std::nullopt;
  std::vector<std::string> known;
  for (const auto& [transport, text] : names_of(Transport{})) {
    if (*name == text) return transport;
    known.emplace_back(text);
  }
  row.fail(kColumn, fmt::format("'{}' is none of {}", printable(*name), join(known, ", ")));
  return std::nullopt;
}

std::optional<Network> own_network(RowReader& row, Collector& collector) {
  const BytesPerSecond unit = kByte / kSecond;
  Network network{.baseline = row.quantity("network_baseline_bytes_per_s", unit),
                  .peak = row.quantity("network_peak_bytes_per_s", unit),
                  .transport = own_transport(row),
                  .rdma = row.quantity("network_rdma_bytes_per_s", unit),
                  .gpu_direct = row.yes_or_no("network_gpu_direct"),
                  .flow = row.quantity("network_flow_bytes_per_s", unit),
                  .flow_placed = row.quantity("network_flow_placed_bytes_per_s", unit),
                  .source = row.optional_text("network_source")};
  const bool empty = !network.baseline && !network.peak && !network.transport && !network.flow;
  if (empty) return std::nullopt;
  if (network.source) network.source = collector.source(*network.source);
  return network;
}

void add_own_row(RowReader& row, Collector& collector) {
  VmType type{.provider = row.required("provider"),
              .name = row.required("name"),
              .accelerator = accelerator_of(row, "accelerator", "accelerator_count"),
              .vcpus = row.count("vcpus"),
              .memory = row.quantity("memory_bytes", kByte),
              .quota_class = row.optional_text("quota_class"),
              .source = collector.origin().name};
  if (type.accelerator) {
    type.accelerator->memory = row.quantity("accelerator_memory_bytes", kByte);
    type.accelerator->gpu = row.optional_text("gpu");
  }
  type.network = own_network(row, collector);
  Offer offer{
      .region = row.required("region"),
      .zone = row.optional_text("zone"),
      .on_demand = own_price(
          row, {"on_demand_usd_per_h", "on_demand_date", "on_demand_source", "on_demand_derived"},
          collector),
      .spot =
          own_price(row, {"spot_usd_per_h", "spot_date", "spot_source", "spot_derived"}, collector),
      .interruption = own_interruption(row, collector)};
  if (!row.error()) collector.add(std::move(type), std::move(offer), row, "name");
}

/// Shortest digits that read back; empty when unknown.
template <class T>
std::string number_cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

template <class Q>
std::string quantity_cell(const std::optional<Q>& value, Q unit) {
  return value ? fmt::format("{}", value->in(unit)) : "";
}

/// The price in the usual digits: 0.526, not 0.5259999999999999.
std::string price_cell(const std::optional<Price>& price) {
  if (!price) return "";
  const std::string text = to_text(price->rate, "USD/h");
  return text.ends_with(" USD/h") ? text.substr(0, text.find(' '))
                                  : fmt::format("{}", price->rate.in(kDollar / kHour));
}

/// Price, date, source and derivation.
std::vector<std::string> price_cells(const std::optional<Price>& price) {
  if (!price) return {"", "", "", ""};
  return {price_cell(price), to_text(price->date), price->source, price->derived.value_or("")};
}

/// Lowest and highest frequency, date and source.
std::vector<std::string> interruption_cells(const std::optional<Interruption>& band) {
  if (!band) return {"", "", "", ""};
  return {fmt::format("{}", band->monthly_min), number_cell(band->monthly_max), to_text(band->date),
          band->source};
}

/// Rates, transport with what follows from it, and its source.
std::vector<std::string> network_cells(const Network& network) {
  const BytesPerSecond unit = kByte / kSecond;
  const auto& direct = network.gpu_direct;
  return {quantity_cell(network.baseline, unit),
          quantity_cell(network.peak, unit),
          network.transport ? std::string(name_of(*network.transport)) : "",
          quantity_cell(network.rdma, unit),
          direct ? (*direct ? "yes" : "no") : "",
          quantity_cell(network.flow, unit),
          quantity_cell(network.flow_placed, unit),
          network.source.value_or("")};
}

std::vector<std::string> own_row(const VmType& type, const Offer& offer) {
  const auto accelerator = type.accelerator.value_or(Accelerator{.count = 0});
  std::vector<std::string> cells = {type.provider,
                                    offer.region,
                                    offer.zone.value_or(""),
                                    type.name,
                                    accelerator.name,
                                    type.accelerator ? fmt::format("{}", accelerator.count) : "",
                                    quantity_cell(accelerator.memory, kByte),
                                    accelerator.gpu.value_or(""),
                                    number_cell(type.vcpus),
                                    quantity_cell(type.memory, kByte)};
  const auto append = [&](const std::vector<std::string>& more) {
    cells.insert(cells.end(), more.begin(), more.end());
  };
  append(network_cells(type.network.value_or(Network{})));
  append(price_cells(offer.on_demand));
  append(price_cells(offer.spot));
  append(interruption_cells(offer.interruption));
  append({type.quota_class.value_or("")});
  return cells;
}

}  // namespace

Result<Loaded<Catalog>> read_catalog_table(std::string_view text, const std::string& source,
                                           const TableOrigin& origin) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  const bool own = csv->find_column("provider").has_value();
  const Status columns = csv->require_columns(own ? kOwnRequired : kSkyPilotColumns);
  if (!columns.ok()) return columns.error();
  if (!own && origin.provider.empty()) {
    return bad_usage(fmt::format("{} does not name its provider: add --provider NAME", source));
  }
  Collector collector(origin);
  for (std::size_t i = 0; i < csv->rows(); ++i) {
    RowReader row(*csv, i);
    own ? add_own_row(row, collector) : add_skypilot_row(row, collector);
    if (row.error()) return *row.error();
  }
  Loaded<Catalog> loaded = collector.take(source);
  if (loaded.noun.types.empty()) {
    return bad_input(fmt::format("{}: the table has no rows of machines", source));
  }
  const Status valid = validate(loaded.noun);
  if (!valid.ok()) return bad_input(fmt::format("{}: {}", source, valid.error().message));
  return loaded;
}

std::string write_catalog_table(const Catalog& catalog) {
  std::string text = csv_line(kOwnColumns);
  for (const VmType& type : catalog.types) {
    for (const Offer& offer : type.offers) text += csv_line(own_row(type, offer));
  }
  return text;
}

std::string provider_of_path(std::string_view path) {
  std::vector<std::string> parts = split(path, '/');
  std::reverse(parts.begin(), parts.end());
  for (const std::string& part : parts) {
    for (const char* provider : {"aws", "gcp", "azure", "lambda", "runpod", "paperspace", "oci",
                                 "fluidstack", "cudo", "vast", "nebius"}) {
      const std::string lower = to_lower(part);
      const std::string name = provider;
      if (lower == name || lower.starts_with(name + ".") || lower.starts_with(name + "_") ||
          lower.starts_with(name + "-")) {
        return name;
      }
    }
  }
  return "";
}

}  // namespace stint
