#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/machine_filter.h"
#include "catalog/market.h"

namespace stint {

/// The name of a VM type as a user writes it: "g4dn.12xlarge", "aws/g4dn.12xlarge" or
/// "gcp/us-central1/a2-highgpu-1g".
struct VmName {
  std::optional<std::string> provider;
  std::optional<std::string> region;
  std::string name;

  bool operator==(const VmName&) const = default;
};

Result<VmName> parse_vm_name(std::string_view text);
std::string to_text(const VmName& name);

/// The VM type called `name`; case and Azure's "Standard_" are ignored. An unknown name is a usage
/// error with the nearest names, one that several providers use an error that lists them.
Result<const VmType*> find_type(const Catalog& catalog, const VmName& name);

/// True when `wanted` ("A100", "a100-80gb", "A100-40GB-SXM") names the accelerator of `type` or a
/// family it belongs to; "T4" does not name a T4G.
bool has_gpu(const VmType& type, std::string_view wanted);

/// The emulated cloud on the user's own computer. It cannot be rented, so that its types are
/// candidates only where it is named.
inline constexpr std::string_view kLocalProvider = "local";

/// True when `providers` names `provider`; when it names none, all but the emulated one are meant.
bool means_provider(const std::vector<std::string>& providers, std::string_view provider);

/// The offers to keep. An empty list keeps all, except the emulated provider.
struct Filter {
  std::vector<std::string> providers;
  std::vector<std::string> regions;
  std::vector<Market> markets;  // Keeps offers with a price on one of them.
  MachineFilter machines;       // "none" keeps machines without accelerator; unusual ones are kept.
  std::optional<Bytes> gpu_memory_min;
  std::optional<DollarsPerSecond> price_max;  // Limit for the cheaper of the kept markets.
};

enum class SortKey { kPricePerGpu, kPrice, kGpuMemory, kNetwork, kName };

std::span<const EnumName<SortKey>> names_of(SortKey type);

/// The catalogue reduced to the offers that pass `filter`, best first by `key`: cheapest first for
/// prices, largest first for memory and network. Types whose figure is unknown are last. Sources
/// and gpus that no type refers to are left out. A provider, region or machine that the catalogue
/// does not have is a usage error with the nearest names.
Result<Catalog> select(const Catalog& catalog, const Filter& filter, SortKey key);

/// The providers of which the catalogue has one region only, with that region; not the emulated
/// one.
std::vector<std::pair<std::string, std::string>> single_regions(const Catalog& catalog);

/// Removes the sources that no type refers to, and the gpus that no type has or may have.
void drop_unused(Catalog& catalog);

/// The lowest price of `offer` on the `markets` (empty: all).
std::optional<DollarsPerSecond> lowest_price(const Offer& offer,
                                             const std::vector<Market>& markets);

}  // namespace stint
