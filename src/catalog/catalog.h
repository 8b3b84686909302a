#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "catalog/transport.h"

namespace stint {

inline constexpr const char* kCatalogSchema = "stint.catalog/1";

/// A source of figures.
struct Source {
  std::string id;  // Identifier that the figures refer to.
  std::string name;
  std::optional<std::string> url;
  std::optional<std::string> commit;
  std::optional<std::string> licence;
  std::optional<Date> date;
  Json::Object unknown = {};
};

/// The figures of one accelerator, by its data sheet.
struct Gpu {
  std::string name;
  std::optional<std::string> architecture;
  std::optional<Bytes> memory;
  std::optional<BytesPerSecond> memory_bandwidth;
  std::optional<FlopsPerSecond> fp32;
  std::optional<FlopsPerSecond> tf32;
  std::optional<FlopsPerSecond> fp16;
  std::optional<std::string> link;
  std::optional<BytesPerSecond> link_bandwidth;  // To other accelerators, sum of both directions.
  std::optional<std::string> pcie;
  std::optional<int> multiprocessors;      // Units that each work on a tile of their own.
  std::optional<int> lanes_per_scheduler;  // FP32 lanes that one warp scheduler feeds.
  std::optional<int> board_power_watts;    // Limit of the board.
  std::optional<std::string> evidence;     // Pages from which the figures were read.
  std::vector<std::string> unverified;     // Fields that none of those pages confirms.
  Json::Object unknown = {};
};

/// The accelerators in one VM.
struct Accelerator {
  std::string name;
  int count = 1;
  std::optional<Bytes> memory;     // Memory of one accelerator, as the provider states it.
  std::optional<std::string> gpu;  // The Gpu with its figures; absent: there are none.
  Json::Object unknown = {};
};

/// A VM's connection to others.
struct Network {
  std::optional<BytesPerSecond> baseline;  // Sustained.
  std::optional<BytesPerSecond> peak;      // Highest rate.
  std::optional<Transport> transport;
  std::optional<BytesPerSecond> rdma;         // Of RDMA links beside the NIC, all together.
  std::optional<bool> gpu_direct;             // The NIC reads and writes the memory of the GPUs.
  std::optional<BytesPerSecond> flow;         // Limit of one TCP flow.
  std::optional<BytesPerSecond> flow_placed;  // The same within a placement group.
  std::optional<std::string> note;
  std::optional<std::string> source;  // Of the transport and what follows from it.
  Json::Object unknown = {};
};

/// The price of one VM, with its date and source.
struct Price {
  DollarsPerSecond rate;
  std::optional<DollarsPerSecond> low;   // 10 % of the time it is lower.
  std::optional<DollarsPerSecond> high;  // 10 % of the time it is higher.
  Date date;
  std::string source;
  std::optional<std::string> derived;  // Derivation of a price that is not listed.
  Json::Object unknown = {};
};

/// The frequency of interruptions of a spot VM, as a monthly band.
struct Interruption {
  double monthly_min = 0;
  std::optional<double> monthly_max;
  Date date;
  std::string source;
  Json::Object unknown = {};
};

/// A region that offers a VM type, with prices.
struct Offer {
  std::string region;
  std::optional<std::string> zone;
  std::optional<Price> on_demand;
  std::optional<Price> spot;
  std::optional<Interruption> interruption;
  Json::Object unknown = {};
};

/// The figures of a VM type that the policy `deepvm` uses, as measured by its authors (CCGrid'24).
struct DeepVmFigures {
  // n workers are c/(1 + exp(−a (n − b))) times as fast as one.
  double a = 0;
  double b = 0;
  double c = 0;
  double flops = 0;  // Speed of one VM, in a unit that is common to all types.
  Json::Object unknown = {};
};

/// A machine that can be rented: its parts once, its prices by region. An unknown figure is absent.
struct VmType {
  std::string provider;
  std::string name;
  std::optional<Accelerator> accelerator;
  std::optional<int> vcpus;
  std::optional<Bytes> memory;
  std::optional<Network> network;
  std::optional<BytesPerSecond> disk_bandwidth;
  std::optional<Bytes> local_disk;
  std::optional<int> efa_interfaces;
  std::optional<std::string> architecture;
  std::optional<std::string> quota_class;
  std::optional<DeepVmFigures> deepvm;
  std::optional<std::string> source;
  std::vector<Offer> offers;
  Json::Object unknown = {};
};

/// The machines to choose from.
struct Catalog {
  std::vector<Source> sources;
  std::vector<Gpu> gpus;
  std::vector<VmType> types;
  Json::Object unknown = {};
};

/// "5-10 % a month" or "over 20 % a month".
std::string to_text(const Interruption& interruption);

Result<Loaded<Catalog>> read_catalog(std::string_view text, const std::string& source);
std::string write_catalog(const Catalog& catalog);
Status validate(const Catalog& catalog);
Json catalog_schema();

/// Calls `visit` with the id of every source that the figures of `type` refer to; a non-const type
/// yields ids that can be changed.
template <class Type, class Visit>
void for_each_source(Type& type, Visit visit) {
  if (type.source) visit(*type.source);
  if (type.network && type.network->source) visit(*type.network->source);
  for (auto& offer : type.offers) {
    if (offer.on_demand) visit(offer.on_demand->source);
    if (offer.spot) visit(offer.spot->source);
    if (offer.interruption) visit(offer.interruption->source);
  }
}

/// True when `name` is `family` or belongs to it: "A100-80GB-SXM" belongs to "A100" and to
/// "a100-80gb", but "T4G" does not belong to "T4".
bool names_family(std::string_view name, std::string_view family);

/// The gpus that `accelerator` may be, by the family in its name and by its memory.
std::vector<const Gpu*> gpu_candidates(const Catalog& catalog, const Accelerator& accelerator);

/// The figures of `type`'s accelerator: the gpu it refers to, else the one of its own name, else
/// the only one it can be; null when there is none.
const Gpu* gpu_of(const Catalog& catalog, const VmType& type);

/// The memory of one accelerator of `type`: the data sheet's, else what the provider states.
std::optional<Bytes> accelerator_memory(const Catalog& catalog, const VmType& type);

/// The guaranteed rate: the baseline, else the peak.
std::optional<BytesPerSecond> network_rate(const VmType& type);

}  // namespace stint
