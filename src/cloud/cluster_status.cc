#include "cloud/cluster_status.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "cloud/metadata.h"

namespace stint {

ClusterStatus status_of(const ClusterSpec& spec, Seconds birth, std::span<const VmRecord> vms,
                        Seconds now) {
  ClusterStatus status{.name = spec.name,
                       .since = utc_text(birth),
                       .age = now,
                       .spot_capacity = spot_capacity(spec.pool, now)};
  for (const VmRecord& vm : vms) {
    const Dollars cost = cost_of(vm, spec.pool, now);
    VmStatus one{.name = vm.spec.name,
                 .type = vm.spec.type,
                 .market = vm.spec.market,
                 .address = vm.address,
                 .network = vm.spec.network,
                 .phase = phase_of(vm, now),
                 .born = vm.born,
                 .age = std::max(Seconds{}, vm.ended.value_or(now) - vm.born),
                 .price = price_of(vm, spec.pool, now),
                 .cost = cost};
    if (one.phase == VmPhase::kNoticed) {
      one.takes_at = utc_text(birth + *vm.takes_at);
      one.takes_in = *vm.takes_at - now;
    }
    if (vm.released) one.released = true;
    (vm.spec.market == Market::kSpot ? status.cost_spot : status.cost_on_demand) += cost;
    status.vms.push_back(std::move(one));
  }
  return status;
}

Result<const VmStatus*> find_vm(const ClusterStatus& status, const std::string& name) {
  std::vector<std::string> names;
  for (const VmStatus& vm : status.vms) {
    if (vm.name == name) return &vm;
    if (vm.phase != VmPhase::kTaken) names.push_back(vm.name);
  }
  return bad_usage(fmt::format("the cluster {} has no VM '{}'{}", status.name, printable(name),
                               names.empty() ? "" : ", only " + join(names, ", ")));
}

Json cluster_schema() {
  return schema_document(kClusterSchema, "A cluster of the emulated cloud and its bill",
                         SchemaWalk::schema_of<ClusterStatus>());
}

}  // namespace stint
