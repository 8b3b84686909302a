#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cloud/cluster_files.h"
#include "cloud/cluster_spec.h"
#include "cloud/cluster_status.h"
#include "cloud/exec_all.h"
#include "load/environment.h"

namespace stint {

/// Sets the lifetimes of the spot VMs of `spec`; on-demand VMs have none. `life` is
/// - "" or "until-down": no interruptions;
/// - "hazard:30m": each has an exponential lifetime of that mean, by `seed`;
/// - "trace:FILE": an availability trace from its first tick on; when it has fewer machines than
///   are up, the last of them are interrupted.
/// Usage errors for anything else, bad input for a trace that cannot be read.
Status set_lives(ClusterSpec& spec, const std::string& life, std::uint64_t seed);

/// The name of a cluster without a given one.
inline constexpr const char* kLocalClusterName = "local";

struct LocalUpRequest {
  std::string cluster;  // "4x local.small"; "none" for no VMs yet.
  std::string name = kLocalClusterName;
  std::string life = {};  // See set_lives.
  std::uint64_t seed = 1;
  Seconds notice = 120 * kSecond;
  std::optional<double> processors = {};
  std::string pool = {};         // A file, see read_pool; "" for an unlimited market.
  bool ends_with_maker = false;  // See ClusterSpec.
};

struct StartedCluster {
  LocalCluster cluster;
  std::vector<std::string> warnings;
};

/// Makes a cluster of the emulated cloud. Usage errors: an unknown type, a name that is taken, more
/// traffic than one computer can carry; unavailable without root and user namespaces.
Result<StartedCluster> start_cluster(const Environment& environment, const LocalUpRequest& request);

struct LocalUpAnswer {
  ClusterStatus status;
  std::vector<std::string> warnings;
};

/// The same, with the result of the removal.
Result<LocalUpAnswer> local_up(const Environment& environment, const LocalUpRequest& request);

struct LocalListAnswer {
  std::vector<ClusterStatus> clusters;
  std::vector<std::string> dead;  // Clusters whose keeper has ended.
};

Result<LocalListAnswer> local_list(const Environment& environment);

/// In these, an empty name means the only cluster.
Result<ClusterStatus> local_preempt(const Environment& environment, const std::string& name,
                                    const std::string& vm, Seconds notice);
Result<ClusterStatus> local_release(const Environment& environment, const std::string& name,
                                    const std::string& vm);
Result<ClusterStatus> local_reshape(const Environment& environment, const std::string& name,
                                    const std::string& vm, BytesPerSecond network);
Result<ClusterStatus> local_down(const Environment& environment, const std::string& name);
Result<int> local_exec(const Environment& environment, const std::string& name,
                       const ExecRequest& request, const PrintLine& print);

struct LocalAddRequest {
  std::string name = {};  // Name of the cluster.
  std::string vm;         // Name of the VM.
  std::string type;       // "local.small:spot".
};

/// Rents one more VM; see LocalCluster::add.
Result<LocalUpAnswer> local_add(const Environment& environment, const LocalAddRequest& request);

Result<Cleaning> local_clean(const Environment& environment);

}  // namespace stint
