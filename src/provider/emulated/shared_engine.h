#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "cloud/cluster_status.h"
#include "cloud/local_cluster.h"
#include "provider/engine.h"

namespace stint {

inline constexpr const char* kMachineClaimsSchema = "stint.machine-claims/1";

/// A run trains on a machine of the cluster from `since` to `until`. Times are ages of the cluster.
struct MachineClaim {
  std::string vm;    // Name in the cluster.
  int member = 0;    // Number among the runs that share the cluster.
  std::string name;  // Name in that run.
  Seconds since;
  std::optional<Seconds> until = {};  // Absent: the claim holds.
};

/// The claims on the machines of a cluster that two runs share. A run claims a machine once at
/// most.
struct MachineClaims {
  std::vector<MachineClaim> claims;
};

Result<MachineClaims> read_machine_claims(std::string_view text, const std::string& source);
std::string write_machine_claims(const MachineClaims& claims);

/// The claim of `member` on the machine that it calls `name`; null where it never had one.
const MachineClaim* find_claim(const MachineClaims& claims, int member, const std::string& name);

/// Whether another run than `member` trains on the machine at present.
bool others_train(const MachineClaims& claims, int member, const std::string& vm);

/// A machine that `member` could share with the other run instead of renting `wanted`: it is up
/// without an interruption notice, of the same kind, and was never claimed by this run. Null: there
/// is none.
const VmStatus* machine_to_join(const MachineClaims& claims, const ClusterStatus& status,
                                int member, const VmSpec& wanted);

/// The part of a machine's life that a run pays for: while both train on it each pays half. The
/// first to claim it pays from its launch, the last to leave it to its end, so that nothing is
/// unpaid or paid twice.
Seconds paid_time(const MachineClaims& claims, const MachineClaim& claim, const VmStatus& vm);

/// The cluster as `member` sees it: its own machines under its own names, with its part of their
/// cost. A machine that it released has ended for it, even if the other run still has it. Changed
/// prices are shared out by time.
ClusterStatus view_of(const MachineClaims& claims, const ClusterStatus& status, int member);

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, MachineClaim>& it) {
  walk.field("vm", it.vm, "Name of the VM in the cluster.");
  walk.field("member", it.member, "Number of the run, 0 or 1.", {.range = Range::kNotNegative});
  walk.field("name", it.name, "Name of the VM in that run.");
  walk.number("since_s", it.since, kSecond, "Start of the claim, as an age of the cluster.",
              Range::kNotNegative);
  walk.number("until_s", it.until, kSecond,
              "End of the claim, as an age of the cluster; absent: the claim holds.",
              Range::kNotNegative);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, MachineClaims>& it) {
  walk.field("claims", it.claims, "Claims, oldest first.", {.always = true});
}

/// The terms on which a run takes part in a cluster that it shares.
struct SharedTerms {
  std::string folder;  // Folder of the cluster's claims and turnstiles.
  int member = 0;      // Number among the runs.
  // For programs that it starts on machines, beside their turnstile.
  std::vector<std::string> variables;
  std::string log_folder = {};  // For a file of turns for each machine; empty: none.
};

/// The number of runs that share a cluster; the plan of each has that fraction of the prices.
inline constexpr double kRunsThatShare = 2;

/// A cluster that two runs share. A machine that one of them rents is joined by the other one when
/// it wants one of that kind, and is released when neither trains on it. Programs that are started
/// on it are given the turnstile of its accelerator.
///
/// The claims are a file, changed under a lock, so that the runs may be separate processes that end
/// at any moment: an unclaimed machine is joined by the next run that wants one.
class SharedEngine : public Engine {
 public:
  /// `cluster` outlives it.
  SharedEngine(const LocalCluster& cluster, SharedTerms terms)
      : cluster_(cluster), terms_(std::move(terms)) {}

  Result<std::optional<MachineRefusal>> request(const MachineOrder& order) const override;
  Status release(const std::string& name) const override;
  Result<MachineList> look() const override;
  Result<pid_t> spawn(const std::string& name, Command command) const override;

 private:
  std::string path() const { return terms_.folder + "/claims.json"; }
  Result<MachineClaims> claims() const;
  Result<MachineClaim> claim(const MachineClaims& known, const VmSpec& vm) const;

  const LocalCluster& cluster_;
  SharedTerms terms_;
};

/// The turnstile of a machine of the cluster.
std::string turnstile_path(const std::string& folder, const std::string& vm);

}  // namespace stint
