#include "catalog/table_format.h"

#include <algorithm>
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
                                              "on_demand_usd_per_h",
                                              "on_demand_date",
                                              "spot_usd_per_h",
                                              "spot_date",
                                              "interruption_monthly_min",
                                              "interruption_monthly_max",
                                              "quota_class"};

/// Reads the cells of one row and remembers the first that is wrong.
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

  std::optional<double> number(const char* column, Range range) {
    const std::string value = text(column);
    if (value.empty()) return std::nullopt;
    const auto parsed = parse_double(value);
    if (!parsed) {
      fail(column, fmt::format("'{}' is not a number; leave the cell empty when it is not known",
                               printable(value)));
      return std::nullopt;
    }
    const std::string wrong = range_problem(range, *parsed, printable(value));
    if (!wrong.empty()) fail(column, wrong);
    return parsed;
  }

  std::optional<int> count(const char* column) {
    const auto value = number(column, Range::kNotNegative);
    if (!value || *value == 0) return std::nullopt;
    const auto whole = static_cast<int>(std::min(*value, 1e9));
    if (*value != whole) fail(column, fmt::format("must be a whole number, not {}", *value));
    return whole;
  }

  template <class Q>
  std::optional<Q> quantity(const char* column, Q unit, Range range = Range::kPositive) {
    const auto value = number(column, range);
    if (!value) return std::nullopt;
    return *value * unit;
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

/// Puts rows together into types with offers.
class Collector {
 public:
  explicit Collector(const TableOrigin& origin) : origin_(origin) {
    catalog_.sources.push_back(
        {.id = origin.name, .name = "imported from " + origin.name, .date = origin.date});
  }

  VmType& type(VmType fresh) {
    const auto key = std::pair(fresh.provider, fresh.name);
    const auto [found, added] = index_.try_emplace(key, catalog_.types.size());
    if (added) catalog_.types.push_back(std::move(fresh));
    return catalog_.types[found->second];
  }

  std::optional<Price> price(std::optional<double> usd_per_hour, const Date& date) const {
    if (!usd_per_hour) return std::nullopt;
    return Price{.rate = *usd_per_hour * kDollar / kHour, .date = date, .source = origin_.name};
  }

  const TableOrigin& origin() const { return origin_; }
  Catalog take() { return std::move(catalog_); }

 private:
  TableOrigin origin_;
  Catalog catalog_;
  std::map<std::pair<std::string, std::string>, std::size_t> index_;
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

std::optional<Accelerator> skypilot_accelerator(RowReader& row) {
  const auto name = row.optional_text("AcceleratorName");
  const auto count = row.count("AcceleratorCount");
  if (!name || !count) return std::nullopt;
  return Accelerator{
      .name = *name, .count = *count, .memory = memory_in_gpu_info(row.text("GpuInfo"))};
}

void add_skypilot_row(RowReader& row, Collector& collector) {
  const TableOrigin& origin = collector.origin();
  VmType type{.provider = origin.provider,
              .name = row.required("InstanceType"),
              .accelerator = skypilot_accelerator(row),
              .vcpus = row.count("vCPUs"),
              .memory = row.quantity("MemoryGiB", kGiB, Range::kNotNegative),
              .source = origin.name};
  if (type.memory == Bytes{}) type.memory.reset();
  Offer offer{.region = row.required("Region"),
              .zone = row.optional_text("AvailabilityZone"),
              .on_demand = collector.price(row.number("Price", Range::kPositive), origin.date),
              .spot = collector.price(row.number("SpotPrice", Range::kPositive), origin.date)};
  if (row.error()) return;
  collector.type(std::move(type)).offers.push_back(std::move(offer));
}

std::optional<Accelerator> own_accelerator(RowReader& row) {
  const auto name = row.optional_text("accelerator");
  if (!name) return std::nullopt;
  return Accelerator{.name = *name,
                     .count = row.count("accelerator_count").value_or(1),
                     .memory = row.quantity("accelerator_memory_bytes", kByte),
                     .gpu = row.optional_text("gpu")};
}

void add_own_row(RowReader& row, Collector& collector) {
  const TableOrigin& origin = collector.origin();
  VmType type{.provider = row.required("provider"),
              .name = row.required("name"),
              .accelerator = own_accelerator(row),
              .vcpus = row.count("vcpus"),
              .memory = row.quantity("memory_bytes", kByte),
              .quota_class = row.optional_text("quota_class"),
              .source = origin.name};
  const Network network{.baseline = row.quantity("network_baseline_bytes_per_s", kByte / kSecond),
                        .peak = row.quantity("network_peak_bytes_per_s", kByte / kSecond)};
  if (network.baseline || network.peak) type.network = network;
  Offer offer{.region = row.required("region"),
              .zone = row.optional_text("zone"),
              .on_demand = collector.price(row.number("on_demand_usd_per_h", Range::kPositive),
                                           row.date("on_demand_date", origin.date)),
              .spot = collector.price(row.number("spot_usd_per_h", Range::kPositive),
                                      row.date("spot_date", origin.date))};
  const auto low = row.number("interruption_monthly_min", Range::kFraction);
  if (low) {
    offer.interruption =
        Interruption{.monthly_min = *low,
                     .monthly_max = row.number("interruption_monthly_max", Range::kFraction),
                     .date = row.date("spot_date", origin.date),
                     .source = origin.name};
  }
  if (row.error()) return;
  collector.type(std::move(type)).offers.push_back(std::move(offer));
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

/// The price as people know it: 0.526, not 0.5259999999999999.
std::string price_cell(const std::optional<Price>& price) {
  if (!price) return "";
  const std::string text = to_text(price->rate, "USD/h");
  return text.ends_with(" USD/h") ? text.substr(0, text.find(' '))
                                  : fmt::format("{}", price->rate.in(kDollar / kHour));
}

std::string date_cell(const std::optional<Price>& price) {
  return price ? to_text(price->date) : "";
}

std::vector<std::string> own_row(const VmType& type, const Offer& offer) {
  const auto accelerator = type.accelerator.value_or(Accelerator{.count = 0});
  const auto network = type.network.value_or(Network{});
  const std::string count = type.accelerator ? fmt::format("{}", accelerator.count) : "";
  const bool band = offer.interruption.has_value();
  return {type.provider,
          offer.region,
          offer.zone.value_or(""),
          type.name,
          accelerator.name,
          count,
          quantity_cell(accelerator.memory, kByte),
          accelerator.gpu.value_or(""),
          number_cell(type.vcpus),
          quantity_cell(type.memory, kByte),
          quantity_cell(network.baseline, kByte / kSecond),
          quantity_cell(network.peak, kByte / kSecond),
          price_cell(offer.on_demand),
          date_cell(offer.on_demand),
          price_cell(offer.spot),
          date_cell(offer.spot),
          band ? fmt::format("{}", offer.interruption->monthly_min) : "",
          band ? number_cell(offer.interruption->monthly_max) : "",
          type.quota_class.value_or("")};
}

}  // namespace

Result<Catalog> read_catalog_table(std::string_view text, const std::string& source,
                                   const TableOrigin& origin) {
  const auto csv = Csv::parse(text, source);
  if (!csv.ok()) return csv.error();
  const bool own = csv->find_column("provider").has_value();
  const Status columns = csv->require_columns(own ? kOwnColumns : kSkyPilotColumns);
  if (!columns.ok()) return columns.error();
  if (!own && origin.provider.empty()) {
    return bad_usage(
        fmt::format("{} does not say whose machines it lists: add --provider NAME", source));
  }
  Collector collector(origin);
  for (std::size_t i = 0; i < csv->rows(); ++i) {
    RowReader row(*csv, i);
    own ? add_own_row(row, collector) : add_skypilot_row(row, collector);
    if (row.error()) return *row.error();
  }
  Catalog catalog = collector.take();
  if (catalog.types.empty()) return bad_input(fmt::format("{}: the table has no rows", source));
  const Status valid = validate(catalog);
  if (!valid.ok()) return bad_input(fmt::format("{}: {}", source, valid.error().message));
  return catalog;
}

std::string write_catalog_table(const Catalog& catalog) {
  std::string text = csv_line(kOwnColumns);
  for (const VmType& type : catalog.types) {
    for (const Offer& offer : type.offers) text += csv_line(own_row(type, offer));
  }
  return text;
}

std::string provider_of_path(std::string_view path) {
  for (const char* provider : {"aws", "gcp", "azure", "lambda", "runpod", "paperspace", "oci",
                               "fluidstack", "cudo", "vast", "nebius"}) {
    for (const std::string& part : split(path, '/')) {
      const std::string lower = to_lower(part);
      if (lower == provider || lower.starts_with(std::string(provider) + ".") ||
          lower.starts_with(std::string(provider) + "_")) {
        return provider;
      }
    }
  }
  return "";
}

}  // namespace stint
