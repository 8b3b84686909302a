#pragma once

#include <string>
#include <vector>

#include "run/machine_claims.h"
#include "run/run_cloud.h"

namespace stint {

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
  Result<pid_t> spawn(const std::string& vm, SpawnRequest request) const override;

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
