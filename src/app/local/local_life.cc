#include "app/local/local_life.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "measure/tables/availability_trace.h"

namespace stint {
namespace {

constexpr std::string_view kHazard = "hazard:";
constexpr std::string_view kTrace = "trace:";

std::vector<VmSpec*> spot_vms(ClusterSpec& spec) {
  std::vector<VmSpec*> vms;
  for (VmSpec& vm : spec.vms) {
    if (vm.market == Market::kSpot) vms.push_back(&vm);
  }
  return vms;
}

Status follow_hazard(ClusterSpec& spec, std::string_view text, std::uint64_t seed) {
  const auto mean = parse_quantity<Seconds>(text);
  if (!mean.ok()) return bad_usage("--life hazard: " + mean.error().message);
  if (!(*mean > Seconds{})) return bad_usage("--life hazard needs a mean above zero");
  Random random(seed);
  for (VmSpec* vm : spot_vms(spec)) vm->life = *mean * random.exponential();
  return {};
}

Status follow_trace(ClusterSpec& spec, const std::string& file) {
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  const auto trace = read_availability_trace(*text, file);
  if (!trace.ok()) return trace.error();
  std::vector<VmSpec*> alive = spot_vms(spec);
  for (std::size_t tick = 0; tick < trace->counts.size(); ++tick) {
    while (!alive.empty() && static_cast<int>(alive.size()) > trace->counts[tick]) {
      alive.back()->life = static_cast<double>(tick) * trace->gap;
      alive.pop_back();
    }
  }
  return {};
}

}  // namespace

Status set_lives(ClusterSpec& spec, const std::string& life, std::uint64_t seed) {
  if (life.empty() || life == "until-down") return {};
  if (spot_vms(spec).empty()) {
    return bad_usage(
        "--life is about spot VMs, and the cluster has none; write for example "
        "'4x local.small:spot'");
  }
  const std::string_view text = life;
  if (text.starts_with(kHazard)) return follow_hazard(spec, text.substr(kHazard.size()), seed);
  if (text.starts_with(kTrace)) return follow_trace(spec, life.substr(kTrace.size()));
  return bad_usage(fmt::format(
      "--life must be until-down, hazard:MEAN or trace:FILE, for example hazard:30m, not '{}'",
      printable(life)));
}

}  // namespace stint
