#include "app/local/local_cases.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "cloud/cgroup.h"
#include "cloud/local_cluster.h"
#include "load/catalog_cases.h"
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

Result<std::string> root_of(const Environment& environment) {
  if (environment.state_folder) return *environment.state_folder + "/local";
  return failed("there is no folder for the state of clusters: set HOME or XDG_STATE_HOME");
}

Result<LocalCluster> cluster_called(const Environment& environment, const std::string& name) {
  const auto root = root_of(environment);
  if (!root.ok()) return root.error();
  if (!name.empty()) return LocalCluster::open(*root, name);
  const std::vector<std::string> names = cluster_names(*root);
  if (names.size() > 1) {
    return bad_usage(fmt::format("there are {} clusters: choose one with --name, {}", names.size(),
                                 join(names, " or ")));
  }
  return LocalCluster::open(*root, names.empty() ? kLocalClusterName : names[0]);
}

Result<std::vector<PoolChange>> pool_in(const std::string& file) {
  if (file.empty()) return std::vector<PoolChange>{};
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  return read_pool(*text, file);
}

}  // namespace

Status set_lives(ClusterSpec& spec, const std::string& life, std::uint64_t seed) {
  if (life.empty() || life == "until-down") return {};
  if (spot_vms(spec).empty()) {
    return bad_usage(
        "--life is for spot VMs, but the cluster has none; write for example '4x "
        "local.small:spot'");
  }
  const std::string_view text = life;
  if (text.starts_with(kHazard)) return follow_hazard(spec, text.substr(kHazard.size()), seed);
  if (text.starts_with(kTrace)) return follow_trace(spec, life.substr(kTrace.size()));
  return bad_usage(fmt::format(
      "--life must be until-down, hazard:MEAN or trace:FILE, for example hazard:30m, not '{}'",
      printable(life)));
}

Result<StartedCluster> start_cluster(const Environment& environment,
                                     const LocalUpRequest& request) {
  const auto root = root_of(environment);
  if (!root.ok()) return root.error();
  const auto cluster =
      request.cluster == "none" ? Result<Cluster>(Cluster{}) : parse_cluster(request.cluster);
  if (!cluster.ok()) return cluster.error();
  auto pool = pool_in(request.pool);
  if (!pool.ok()) return pool.error();
  auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  auto spec = cluster_spec(*cluster, catalog->noun, request.name);
  if (!spec.ok()) return spec.error();
  const auto warning = traffic_warning(*spec);
  if (!warning.ok()) return warning.error();
  const Status alive = set_lives(*spec, request.life, request.seed);
  if (!alive.ok()) return alive.error();
  if (request.processors) {
    const auto quota = cpu_quota(*request.processors);
    if (!quota.ok()) return quota.error();
  }
  spec->notice = request.notice;
  spec->processors = request.processors;
  spec->pool = std::move(*pool);
  spec->ends_with_maker = request.ends_with_maker;
  auto started = LocalCluster::start(*root, *spec);
  if (!started.ok()) return started.error();
  StartedCluster answer{.cluster = std::move(*started), .warnings = std::move(catalog->warnings)};
  if (!warning->empty()) answer.warnings.push_back(*warning);
  return answer;
}

Result<LocalUpAnswer> local_up(const Environment& environment, const LocalUpRequest& request) {
  auto started = start_cluster(environment, request);
  if (!started.ok()) return started.error();
  auto status = started->cluster.status();
  if (!status.ok()) return status.error();
  return LocalUpAnswer{.status = std::move(*status), .warnings = std::move(started->warnings)};
}

Result<LocalListAnswer> local_list(const Environment& environment) {
  const auto root = root_of(environment);
  if (!root.ok()) return root.error();
  LocalListAnswer answer;
  for (const std::string& name : cluster_names(*root)) {
    const auto cluster = LocalCluster::open(*root, name);
    auto status = cluster.ok() ? cluster->status() : cluster.error();
    if (status.ok()) {
      answer.clusters.push_back(std::move(*status));
    } else {
      answer.dead.push_back(name);
    }
  }
  return answer;
}

Result<ClusterStatus> local_preempt(const Environment& environment, const std::string& name,
                                    const std::string& vm, Seconds notice) {
  const auto cluster = cluster_called(environment, name);
  if (!cluster.ok()) return cluster.error();
  return cluster->preempt(vm, notice);
}

Result<ClusterStatus> local_release(const Environment& environment, const std::string& name,
                                    const std::string& vm) {
  const auto cluster = cluster_called(environment, name);
  if (!cluster.ok()) return cluster.error();
  return cluster->release(vm);
}

Result<ClusterStatus> local_reshape(const Environment& environment, const std::string& name,
                                    const std::string& vm, BytesPerSecond network) {
  const auto cluster = cluster_called(environment, name);
  if (!cluster.ok()) return cluster.error();
  return cluster->reshape(vm, network);
}

Result<LocalUpAnswer> local_add(const Environment& environment, const LocalAddRequest& request) {
  const Status named = check_vm_name(request.vm);
  if (!named.ok()) return named.error();
  const auto type = parse_cluster(request.type);
  if (!type.ok()) return type.error();
  const auto cluster = cluster_called(environment, request.name);
  if (!cluster.ok()) return cluster.error();
  auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  auto spec = cluster_spec(*type, catalog->noun, cluster->name());
  if (!spec.ok()) return spec.error();
  if (spec->vms.size() != 1) {
    return bad_usage(
        fmt::format("only one VM can be added at a time, not '{}'", printable(request.type)));
  }
  spec->vms[0].name = request.vm;
  auto status = cluster->add(spec->vms[0]);
  if (!status.ok()) return status.error();
  return LocalUpAnswer{.status = std::move(*status), .warnings = std::move(catalog->warnings)};
}

Result<ClusterStatus> local_down(const Environment& environment, const std::string& name) {
  const auto cluster = cluster_called(environment, name);
  if (!cluster.ok()) return cluster.error();
  return cluster->down();
}

Result<int> local_exec(const Environment& environment, const std::string& name,
                       const ExecRequest& request, const PrintLine& print) {
  const auto cluster = cluster_called(environment, name);
  if (!cluster.ok()) return cluster.error();
  return exec_all(*cluster, request, print);
}

Result<Cleaning> local_clean(const Environment& environment) {
  const auto root = root_of(environment);
  if (!root.ok()) return root.error();
  return clean_clusters(*root);
}

}  // namespace stint
