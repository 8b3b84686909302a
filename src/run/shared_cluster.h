#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "cloud/cluster_status.h"
#include "run/run_cloud.h"

namespace stint {

inline constexpr const char* kMachineClaimsSchema = "stint.machine-claims/1";

/// A run trains on a machine of the cluster, from when until when. Times are ages of the cluster.
struct MachineClaim {
  std::string vm;    // Of the cluster.
  int member = 0;    // Which of the runs that share the cluster.
  std::string name;  // What that run calls it.
  Seconds since;
  std::optional<Seconds> until = {};  // Absent: it still does.
};

/// Who has which machines of a cluster that two runs share. A run claims a machine once at most.
struct MachineClaims {
  std::vector<MachineClaim> claims;
};

Result<MachineClaims> read_machine_claims(std::string_view text, const std::string& source);
std::string write_machine_claims(const MachineClaims& claims);

/// What `member` calls `name`; null where it never had such a machine.
const MachineClaim* find_claim(const MachineClaims& claims, int member, const std::string& name);

/// Whether another run than `member` trains on the machine at present.
bool others_train(const MachineClaims& claims, int member, const std::string& vm);

/// A machine that `member` could have beside the other run instead of renting `wanted`: it runs,
/// nobody was told that it goes, it is of the same kind, and the run never had it. Null: there is
/// none.
const VmStatus* machine_to_join(const MachineClaims& claims, const ClusterStatus& status,
                                int member, const VmSpec& wanted);

/// For how long of its life a run pays for a machine: while both train on it each pays a half. Who
/// claims it first pays from its birth on, who leaves last to its end, so that nothing is left
/// unpaid or paid twice.
Seconds paid_time(const MachineClaims& claims, const MachineClaim& claim, const VmStatus& vm);

/// The cluster as `member` sees it: its own machines under its own names, with what it pays for
/// them. One that it gave back is gone for it, though the other run may have it still. Prices that
/// changed are shared out by time.
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

/// How a run takes part in a cluster that it shares.
struct SharedTerms {
  std::string folder;                  // Of the cluster's claims and turnstiles.
  int member = 0;                      // Which of the runs.
  std::vector<std::string> variables;  // For what it starts on machines, beside their turnstile.
  std::string log_folder = {};         // For a file of turns for each machine; empty: none.
};

/// The plan of a run that shares machines has that part of their prices.
inline constexpr double kRunsThatShare = 2;

/// A cluster that two runs share. A machine that one of them rents the other one joins, if it wants
/// one of that kind, and it is given back when nobody trains on it any more. What is started on it
/// is told where the turnstile of its accelerator is.
///
/// The claims are a file, changed under a lock, so that the runs may be processes of their own and
/// die at any moment: machines that nobody claims are joined by the next who wants one.
class SharedCluster : public RunCloud {
 public:
  /// `cluster` outlives it.
  SharedCluster(const LocalCluster& cluster, SharedTerms terms)
      : cluster_(cluster), terms_(std::move(terms)) {}

  Result<ClusterStatus> status() const override;
  Result<ClusterStatus> add(const VmSpec& vm) const override;
  Result<ClusterStatus> release(const std::string& vm) const override;
  Result<pid_t> spawn(const std::string& vm, Command command) const override;

 private:
  std::string path() const { return terms_.folder + "/claims.json"; }
  Result<MachineClaims> claims() const;
  Result<ClusterStatus> rent(const VmSpec& vm, const ClusterStatus& status) const;

  const LocalCluster& cluster_;
  SharedTerms terms_;
};

/// The turnstile of a machine of the cluster.
std::string turnstile_path(const std::string& folder, const std::string& vm);

}  // namespace stint
