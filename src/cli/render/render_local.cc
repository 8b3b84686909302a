#include "cli/render/render_local.h"

#include <fmt/format.h>

#include "base/table.h"
#include "cli/render/figures.h"
#include "cli/views/machine_views.h"

namespace stint::cli {
namespace {

/// Bills of an emulated cloud are small, so that four digits are shown.
std::string bill(Dollars amount) { return fmt::format("${:.4f}", amount.in(kDollar)); }

std::string state_of(const VmStatus& vm) {
  return vm.released.value_or(false) ? "released" : name_of(vm.phase);
}

}  // namespace

std::string text_of(const ClusterStatus& status, const Terminal& terminal) {
  Table table({{.title = "VM", .importance = 9},
               {.title = "type", .importance = 8},
               {.title = "market", .importance = 5},
               {.title = "address", .importance = 7},
               {.title = "Mbit/s", .align = Align::kRight, .importance = 4},
               {.title = "state", .importance = 8},
               {.title = "ends at", .importance = 3},
               {.title = "age", .align = Align::kRight, .importance = 2},
               {.title = "cost", .align = Align::kRight, .importance = 6}});
  for (const VmStatus& vm : status.vms) {
    table.add({vm.name, vm.type, std::string(name_of(vm.market)), vm.address,
               fmt::format("{:g}", vm.network.in(kMbit / kSecond)), state_of(vm),
               vm.takes_at.value_or(""), duration(vm.age), bill(vm.cost)});
  }
  return fmt::format("{} since {}: on-demand {}, spot {}\n{}", status.name, status.since,
                     bill(status.cost_on_demand), bill(status.cost_spot),
                     table.text(terminal, "-o json"));
}

Json json_of(const std::vector<ClusterStatus>& clusters, const std::vector<std::string>& dead) {
  return encoded(ClustersView{.clusters = clusters, .dead = dead});
}

Json json_of(const Cleaning& cleaning) {
  return encoded(
      CleaningView{.removed = cleaning.removed, .alive = cleaning.alive, .kept = cleaning.kept});
}

}  // namespace stint::cli
