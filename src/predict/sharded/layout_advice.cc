#include "predict/sharded/layout_advice.h"

#include <fmt/format.h>

namespace stint {
namespace {

/// A number of VMs and the layout that fits on them.
struct Holder {
  const VmType* type = nullptr;
  int vms = 0;
  ParallelLayout layout;
};

/// Which numbers of VMs are tried: all of them, or powers of two.
enum class Steps { kAll, kDoubling };

/// The fewest VMs of the type, below `limit`, that hold the model.
std::optional<Holder> fewest(const LayoutQuestion& question, const Catalog& catalog,
                             const VmType& type, int limit, Steps steps) {
  for (int vms = 1; vms < limit; vms = steps == Steps::kAll ? vms + 1 : 2 * vms) {
    const auto cluster = sharded_cluster(catalog, type, question.model.precision, vms);
    if (!cluster) return std::nullopt;
    LayoutQuestion asked = question;
    asked.cluster = *cluster;
    asked.unvalidated = false;
    const auto best = best_layouts(asked, 1);
    if (!best.empty()) return Holder{&type, vms, best.front().layout};
  }
  return std::nullopt;
}

std::string text_of(const Holder& it) {
  return fmt::format("it fits on {}x {} with the layout '{}'", it.vms, it.type->name,
                     to_text(it.layout));
}

/// Accelerators of the type as one holder counts them: fewer VMs first, then fewer accelerators.
bool is_smaller(const Holder& a, const Holder& b) {
  const auto size = [](const Holder& it) { return it.vms * it.type->accelerator->count; };
  return a.vms != b.vms ? a.vms < b.vms : size(a) < size(b);
}

}  // namespace

std::optional<std::string> fitting_advice(const LayoutQuestion& question, const Catalog& catalog,
                                          const VmType& type) {
  const auto same = fewest(question, catalog, type, kAdvisedVmsMax + 1, Steps::kAll);
  if (same) return text_of(*same);
  std::optional<Holder> best;
  for (const VmType& other : catalog.types) {
    if (!other.accelerator || other.provider != type.provider) continue;
    const int limit = best ? best->vms + 1 : kAdvisedVmsMax + 1;
    const auto found = fewest(question, catalog, other, limit, Steps::kDoubling);
    if (found && (!best || is_smaller(*found, *best))) best = found;
  }
  if (!best) return std::nullopt;
  return text_of(*best);
}

}  // namespace stint
