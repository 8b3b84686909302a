#include "cli/render/render_catalog.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "base/table.h"
#include "base/text.h"
#include "catalog/lookup.h"

namespace stint::cli {
namespace {

/// "$3.912", with "~" before it when it was computed instead of listed.
std::string price_cell(const std::optional<Price>& price) {
  if (!price) return "";
  return fmt::format("{}${:.4g}", price->derived ? "~" : "", price->rate.in(kDollar / kHour));
}

std::string date_cell(const std::optional<Price>& price) {
  return price ? to_text(price->date) : "";
}

bool plannable(const Catalog& catalog, const VmType& type) {
  return !type.accelerator || gpu_of(catalog, type) != nullptr;
}

std::string gpu_cell(const Catalog& catalog, const VmType& type) {
  if (!type.accelerator) return "";
  return fmt::format("{}{}x {}", plannable(catalog, type) ? "" : "*", type.accelerator->count,
                     type.accelerator->name);
}

std::string size_cell(const std::optional<Bytes>& size, const char* unit) {
  return size ? to_text(*size, unit) : "";
}

std::string network_cell(const VmType& type) {
  const auto rate = network_rate(type);
  return rate ? fmt::format("{:g}", rate->in(kGbit / kSecond)) : "";
}

std::string per_gpu_cell(const VmType& type, const Offer& offer,
                         const std::vector<Market>& markets) {
  const auto price = lowest_price(offer, markets);
  if (!price || !type.accelerator) return "";
  const auto computed = [&](const std::optional<Price>& it) {
    return it && it->derived && it->rate == *price;
  };
  const bool derived = computed(offer.on_demand) || computed(offer.spot);
  return fmt::format("{}${:.4g}", derived ? "~" : "",
                     price->in(kDollar / kHour) / type.accelerator->count);
}

/// The offer with the lowest price; offers without one come last.
const Offer& cheapest(const VmType& type, const std::vector<Market>& markets) {
  return *std::min_element(type.offers.begin(), type.offers.end(),
                           [&](const Offer& a, const Offer& b) {
                             const auto first = lowest_price(a, markets);
                             const auto second = lowest_price(b, markets);
                             if (!first || !second) return first.has_value() && !second;
                             return *first < *second;
                           });
}

std::string place_of(const Offer& offer) {
  if (!offer.zone) return offer.region;
  const bool said = offer.zone->starts_with(offer.region);  // As in us-east-1a.
  return said ? *offer.zone : offer.region + "/" + *offer.zone;
}

std::size_t count_regions(const VmType& type) {
  std::set<std::string> regions;
  for (const Offer& offer : type.offers) regions.insert(offer.region);
  return regions.size();
}

struct Shown {
  const VmType* type;
  const Offer* offer;
  std::string place;
};

std::vector<Shown> rows_of(const Catalog& catalog, const CatalogView& view) {
  std::vector<Shown> rows;
  for (const VmType& type : catalog.types) {
    if (type.offers.empty()) {
      static const Offer kNowhere;
      rows.push_back({&type, &kNowhere, ""});
      continue;
    }
    if (view.all_regions) {
      for (const Offer& offer : type.offers) rows.push_back({&type, &offer, place_of(offer)});
      continue;
    }
    const Offer& offer = cheapest(type, view.markets);
    std::string place = place_of(offer);
    const std::size_t regions = count_regions(type);
    if (regions > 1) place += fmt::format(" +{}", regions - 1);
    rows.push_back({&type, &offer, std::move(place)});
  }
  return rows;
}

/// A line of the sheet, wrapped to the terminal; nothing when the value is not known.
class Sheet {
 public:
  explicit Sheet(int width) : width_(width) {}

  std::string line(std::string_view name, const std::string& value) const {
    if (value.empty()) return "";
    const std::string body = wrapped(without_controls(value), width_, kIndent);
    return fmt::format("  {:<{}}{}\n", name, kIndent - 2, body);
  }

 private:
  static constexpr int kIndent = 20;
  int width_;
};

/// "efa, GPU memory direct", with the limits of one flow where there are some.
std::string transport_text(const Network& network) {
  if (!network.transport) return "unknown";
  std::string text = name_of(*network.transport);
  if (network.rdma) text += fmt::format(" {}", to_text(*network.rdma, "Gbit/s"));
  if (network.gpu_direct) {
    text += *network.gpu_direct ? ", direct to GPU memory" : ", through host memory";
  }
  if (network.flow) {
    text += fmt::format("; one TCP flow {}", to_text(*network.flow, "Gbit/s"));
    if (network.flow_placed) {
      text += fmt::format(", {} in a placement group", to_text(*network.flow_placed, "Gbit/s"));
    }
  }
  return text;
}

std::string network_sheet(const VmType& type, const Sheet& sheet) {
  if (!type.network) return "";
  const std::string rate = network_cell(type);
  const std::string note = type.network->note ? fmt::format(" ({})", *type.network->note) : "";
  std::string text;
  if (!rate.empty()) text += sheet.line("network", rate + " Gbit/s" + note);
  return text + sheet.line("transport", transport_text(*type.network));
}

std::string parts_sheet(const Catalog& catalog, const VmType& type, const Sheet& sheet) {
  std::string text = fmt::format("{}  ({})\n", type.name, type.provider);
  text += sheet.line("accelerators", gpu_cell(catalog, type));
  const auto memory = accelerator_memory(catalog, type);
  if (type.accelerator) text += sheet.line("memory of each", size_cell(memory, "GB"));
  text += sheet.line("vCPUs", type.vcpus ? fmt::format("{}", *type.vcpus) : "");
  text += sheet.line("memory", size_cell(type.memory, "GiB"));
  text += network_sheet(type, sheet);
  if (type.disk_bandwidth)
    text += sheet.line("disk bandwidth", to_text(*type.disk_bandwidth, "Gbit/s"));
  if (type.local_disk) text += sheet.line("local disk", to_text(*type.local_disk));
  text += sheet.line("processor", type.architecture.value_or(""));
  text += sheet.line("quota class", type.quota_class.value_or(""));
  return text;
}

/// What the sheet says of a GPU, one line per figure, unverified ones marked.
std::string gpu_sheet(const Gpu& gpu, const Sheet& sheet) {
  const auto mark = [&](const char* field) {
    const bool unverified =
        std::find(gpu.unverified.begin(), gpu.unverified.end(), field) != gpu.unverified.end();
    return unverified ? "  (unverified)" : "";
  };
  const auto rate = [&](const std::optional<BytesPerSecond>& value, const char* field) {
    return value ? to_text(*value, "GB/s") + mark(field) : "";
  };
  const auto speed = [&](const std::optional<FlopsPerSecond>& value, const char* field) {
    return value ? to_text(*value, "TFLOP/s") + mark(field) : "";
  };
  const auto count = [&](const std::optional<int>& value, const char* unit, const char* field) {
    return value ? fmt::format("{}{}{}", *value, unit, mark(field)) : "";
  };
  std::string text =
      fmt::format("\n{}{}\n", gpu.name, gpu.architecture ? "  (" + *gpu.architecture + ")" : "");
  if (gpu.memory) text += sheet.line("memory", to_text(*gpu.memory, "GB") + mark("memory"));
  text += sheet.line("memory bandwidth", rate(gpu.memory_bandwidth, "memory_bandwidth"));
  text += sheet.line("fp32", speed(gpu.fp32, "fp32"));
  text += sheet.line("tf32", speed(gpu.tf32, "tf32"));
  text += sheet.line("fp16", speed(gpu.fp16, "fp16"));
  if (gpu.link) text += sheet.line("link", *gpu.link + mark("link"));
  text += sheet.line("link bandwidth", rate(gpu.link_bandwidth, "link_bandwidth"));
  if (gpu.pcie) text += sheet.line("PCIe", *gpu.pcie + mark("pcie"));
  text += sheet.line("multiprocessors", count(gpu.multiprocessors, "", "multiprocessors"));
  text += sheet.line("board power", count(gpu.board_power_watts, " W", "board_power_watts"));
  text += sheet.line("evidence", gpu.evidence.value_or(""));
  return text;
}

/// Why a machine cannot be planned, and what would change that.
std::string no_figures_text(const Catalog& catalog, const Accelerator& accelerator) {
  std::string text =
      "* There are no figures for this accelerator: it is listed but cannot be planned.";
  std::vector<std::string> names;
  for (const Gpu* gpu : gpu_candidates(catalog, accelerator)) names.push_back(gpu->name);
  if (names.empty()) return text;
  return text + fmt::format(" A catalogue of your own can name it: \"gpu\": one of {}.",
                            join(names, ", "));
}

std::string sources_sheet(const Catalog& catalog, int width) {
  std::string text = "\nSources\n";
  for (const Source& source : catalog.sources) {
    const std::string line =
        fmt::format("{}{}{}", source.name, source.date ? ", " + to_text(*source.date) : "",
                    source.url ? ", " + *source.url : "");
    text += fmt::format("  {}\n", wrapped(without_controls(line), width, 4));
  }
  return text;
}

}  // namespace

std::string catalog_table(const Catalog& catalog, const CatalogView& view,
                          const Terminal& terminal) {
  Table table({{.title = "VM", .importance = 10, .width_min = 28},
               {.title = "GPUs", .importance = 9, .width_min = 8},
               {.title = "memory", .align = Align::kRight, .importance = 5},
               {.title = "vCPUs", .align = Align::kRight, .importance = 2},
               {.title = "Gbit/s", .align = Align::kRight, .importance = 4},
               {.title = "region", .importance = view.all_regions ? 9 : 3, .width_min = 16},
               {.title = "on-demand", .align = Align::kRight, .importance = 8, .group = 1},
               {.title = "of", .importance = 8, .width_min = 10, .group = 1},
               {.title = "spot", .align = Align::kRight, .importance = 7, .group = 2},
               {.title = "of", .importance = 7, .width_min = 10, .group = 2},
               {.title = "per GPU", .align = Align::kRight, .importance = 6}});
  for (const Shown& row : rows_of(catalog, view)) {
    const VmType& type = *row.type;
    const Offer& offer = *row.offer;
    table.add({type.name, gpu_cell(catalog, type),
               size_cell(accelerator_memory(catalog, type), "GB"),
               type.vcpus ? fmt::format("{}", *type.vcpus) : "", network_cell(type), row.place,
               price_cell(offer.on_demand), date_cell(offer.on_demand), price_cell(offer.spot),
               date_cell(offer.spot), per_gpu_cell(type, offer, view.markets)});
  }
  return table.text(terminal);
}

std::string vm_sheet(const Catalog& catalog, const Terminal& terminal) {
  const VmType& type = catalog.types.front();
  const Sheet sheet(terminal.width);
  std::string text = parts_sheet(catalog, type, sheet);
  const Gpu* gpu = gpu_of(catalog, type);
  if (gpu != nullptr) text += gpu_sheet(*gpu, sheet);
  if (gpu == nullptr && type.accelerator) {
    text += "\n" + wrapped(no_figures_text(catalog, *type.accelerator), terminal.width, 2) + "\n";
  }
  Table table({{.title = "region", .importance = 10},
               {.title = "on-demand", .align = Align::kRight, .importance = 9, .group = 1},
               {.title = "of", .importance = 9, .width_min = 10, .group = 1},
               {.title = "spot", .align = Align::kRight, .importance = 7, .group = 2},
               {.title = "of", .importance = 7, .width_min = 10, .group = 2},
               {.title = "interruptions", .importance = 5}});
  for (const Offer& offer : type.offers) {
    table.add({place_of(offer), price_cell(offer.on_demand), date_cell(offer.on_demand),
               price_cell(offer.spot), date_cell(offer.spot),
               offer.interruption ? to_text(*offer.interruption) : ""});
  }
  text += "\n" + table.text(terminal);
  return text + sources_sheet(catalog, terminal.width);
}

std::string difference_table(const std::vector<Difference>& differences, const Terminal& terminal) {
  Table table({{.title = "change", .importance = 9},
               {.title = "what", .importance = 10, .width_min = 48},
               {.title = "before", .importance = 8, .width_min = 12},
               {.title = "after", .importance = 8, .width_min = 12}});
  for (const Difference& it : differences) {
    table.add({name_of(it.kind), it.what, it.before, it.after});
  }
  return table.text(terminal);
}

bool shows_derived_price(const Catalog& catalog) {
  for (const VmType& type : catalog.types) {
    for (const Offer& offer : type.offers) {
      if (offer.on_demand && offer.on_demand->derived) return true;
      if (offer.spot && offer.spot->derived) return true;
    }
  }
  return false;
}

bool shows_unplannable(const Catalog& catalog) {
  return std::any_of(catalog.types.begin(), catalog.types.end(),
                     [&](const VmType& type) { return !plannable(catalog, type); });
}

}  // namespace stint::cli
