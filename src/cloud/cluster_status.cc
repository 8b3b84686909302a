#include "cloud/cluster_status.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "cloud/metadata.h"

namespace stint {

ClusterStatus status_of(const std::string& name, std::span<const VmRecord> vms, Seconds now) {
  ClusterStatus status{
      .name = name, .since = utc_text(vms.empty() ? now : vms.front().born), .vms = {}};
  for (const VmRecord& vm : vms) {
    const Dollars cost = cost_of(vm, now);
    VmStatus one{.name = vm.spec.name,
                 .type = vm.spec.type,
                 .market = vm.spec.market,
                 .address = vm.address,
                 .network = vm.spec.network,
                 .phase = phase_of(vm, now),
                 .age = std::max(Seconds{}, vm.ended.value_or(now) - vm.born),
                 .cost = cost};
    if (one.phase == VmPhase::kNoticed) one.takes_at = utc_text(*vm.takes_at);
    (vm.spec.market == Market::kSpot ? status.cost_spot : status.cost_on_demand) += cost;
    status.vms.push_back(std::move(one));
  }
  return status;
}

Result<const VmStatus*> find_vm(const ClusterStatus& status, const std::string& name) {
  std::vector<std::string> names;
  for (const VmStatus& vm : status.vms) {
    if (vm.name == name) return &vm;
    names.push_back(vm.name);
  }
  return bad_usage(fmt::format("the cluster {} has no VM '{}', only {}", status.name,
                               printable(name), join(names, ", ")));
}

Json cluster_schema() {
  return schema_document(kClusterSchema, "A cluster of the emulated cloud and its bill",
                         SchemaWalk::schema_of<ClusterStatus>());
}

}  // namespace stint
