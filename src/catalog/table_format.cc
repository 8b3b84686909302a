#include "catalog/table_format.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "base/csv.h"
#include "base/text.h"
#include "catalog/skypilot_table.h"
#include "catalog/table_row.h"

namespace stint {
namespace {

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
                                              "quota_class",
                                              "architecture"};

const std::vector<std::string> kOwnRequired = {"provider", "region", "name"};

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
  void add(VmType type, Offer offer, TableRow& row, const char* name_column) {
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

  Catalog take() { return std::move(catalog_); }

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
};

/// The columns of one price in our own table.
struct PriceColumns {
  const char* price;
  const char* date;
  const char* source;
  const char* derived;
};

std::optional<Price> own_price(TableRow& row, const PriceColumns& columns, Collector& collector) {
  const auto value = row.number(columns.price, Range::kPositive);
  if (!value) return std::nullopt;
  return Price{.rate = *value * kDollar / kHour,
               .date = row.date(columns.date, collector.origin().date),
               .source = collector.source(row.text(columns.source)),
               .derived = row.optional_text(columns.derived)};
}

std::optional<Interruption> own_interruption(TableRow& row, Collector& collector) {
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

std::optional<Transport> own_transport(TableRow& row) {
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

std::optional<Network> own_network(TableRow& row, Collector& collector) {
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

void add_own_row(TableRow& row, Collector& collector) {
  VmType type{.provider = row.required("provider"),
              .name = row.required("name"),
              .accelerator = row.accelerator("accelerator", "accelerator_count"),
              .vcpus = row.count("vcpus"),
              .memory = row.quantity("memory_bytes", kByte),
              .architecture = row.optional_text("architecture"),
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

Result<Loaded<Catalog>> read_own_table(const Csv& csv, const TableOrigin& origin) {
  const Status columns = csv.require_columns(kOwnRequired);
  if (!columns.ok()) return columns.error();
  Collector collector(origin);
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    TableRow row(csv, i);
    add_own_row(row, collector);
    if (row.error()) return *row.error();
  }
  return Loaded<Catalog>{collector.take(), {}};
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
  append({type.quota_class.value_or(""), type.architecture.value_or("")});
  return cells;
}

}  // namespace

Result<Loaded<Catalog>> read_catalog_table(std::string_view text, const std::string& source,
                                           const TableOrigin& origin) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  const bool own = csv->find_column("provider").has_value();
  auto loaded = own ? read_own_table(*csv, origin) : read_skypilot_table(*csv, source, origin);
  if (!loaded.ok()) return loaded.error();
  if (loaded->noun.types.empty()) {
    const std::string why = loaded->warnings.empty() ? "" : " (" + loaded->warnings[0] + ")";
    return bad_input(fmt::format("{}: the table has no rows of machines{}", source, why));
  }
  const Status valid = validate(loaded->noun);
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
    for (const char* provider :
         {"aws", "gcp", "azure", "lambda", "runpod", "paperspace", "oci", "fluidstack", "cudo",
          "vast", "nebius", "ibm", "scp", "hyperbolic", "seeweb", "shadeform", "primeintellect"}) {
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
