#include "app/run/run_layout.h"

#include <fmt/format.h>

#include "run/worker_layout.h"

namespace stint {

Status set_layout(const std::string& text, std::optional<RunCompute> compute, PreparedRun& run) {
  if (text.empty()) return {};
  const auto layout = parse_worker_layout(text);
  if (!layout.ok()) return layout.error();
  int machines = 0;
  for (const VmGroup& group : run.cluster.groups) machines += group.count;
  if (layout->workers() != machines) {
    return bad_usage(fmt::format(
        "--layout '{}' is for {} workers (data {} x tensor {} x pipeline {}), but the cluster has "
        "{}; change a degree or the cluster",
        to_text(*layout), layout->workers(), layout->degrees.data, layout->degrees.tensor,
        layout->degrees.pipeline, machines));
  }
  if (layout->degrees.hybrid && layout->degrees.zero == 0) {
    return bad_usage("--layout: hybrid sharding (hsdp) needs a ZeRO stage, as in 'zero3 hsdp'");
  }
  if (!run.record.plain) {
    return bad_usage(
        "--layout needs a script that splits its model itself, with stint.layout(); this one uses "
        "stint.Job, which is data parallel");
  }
  if (compute == RunCompute::kPacedReal) {
    return bad_usage(
        "--compute paced-real follows the profile, which was measured with the whole model on each "
        "worker; with --layout leave it out");
  }
  run.record.compute = RunCompute::kReal;
  run.record.layout = to_text(*layout);
  run.warnings.emplace_back(
      "the forecast assumes data parallelism on all machines, whatever --layout says");
  return {};
}

}  // namespace stint
