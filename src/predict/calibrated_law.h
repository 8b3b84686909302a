#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "plan/calibration.h"
#include "predict/bucket_law.h"
#include "predict/fabric.h"
#include "predict/law.h"

namespace stint {

/// What a calibration says of one job.
struct KnownJob {
  JobLaw law;
  JobLaw deviation;                     // Of each number of the law.
  double noise = 1;                     // Its noise over that of other jobs.
  std::optional<Bytes> gradients = {};  // That it was fitted with; absent in older calibrations.
};

/// A law as a calibration states it, with all that is unsure about it.
struct CalibratedLaw {
  std::string name;
  FabricLaw fabric;
  std::vector<std::vector<double>> covariance;  // Of the fabric, in the order of law_names.
  JobLaw job_deviation;                         // Of jobs from the population.
  double noise_floor = 0;    // Deviation of log time between runs of a setup that only computes.
  double noise_exposed = 0;  // And of the part of it that is exposed communication.
  double dispersion = 1;     // How much further than that unseen jobs lie from the population.
  LogSpread unseen{.below = 1, .above = 1};  // Widths of unseen jobs, by jobs that were held out.
  std::map<std::string, KnownJob> jobs;
  BytesPerSecond reference_network = kReferenceNetwork;  // That the costs of the fabric are for.
  FabricFacts facts = {};                                // Of the network that was measured.
  // Where this is there, other networks are predicted by it, see fabric_transfer; without it costs
  // follow the rate as cost_by_network says.
  std::optional<NetworkKnowledge> networks = {};
  bool fitted = false;          // False: nothing was fitted, all of it is prior belief.
  bool servers_fitted = false;  // Whether that holds for the constants of parameter servers too.
  // Where this is there, it alone says what an iteration takes, and `fabric` is a bound below it.
  std::optional<CalibratedBuckets> buckets = {};

  /// What is known of a job. A name alone is no proof of being the same job: its gradients must
  /// also be within 5 % of those that were fitted. Null for any other job.
  const KnownJob* known_job(const std::string& job, Bytes gradients) const;
};

/// The law of a known job; that of the population for null.
JobLaw law_of(const KnownJob* known);

/// Reads the constants by scope: "fabric" and "job" by their names in law_names, "noise",
/// "fabric_reference", and "job:NAME" for each job that was fitted. Constants that were not
/// identified have their prior's deviation, and are independent. A calibration from before a
/// constant of jobs was thought of says nothing of it; any other that is missing is bad input that
/// names it. A calibration with the scope "buckets" is of that kind and needs no others; see
/// bucket_law.h.
Result<CalibratedLaw> calibrated_law(const Calibration& calibration);

/// The prior of another network from what a calibration found on its own: for each constant θ' of
/// fabric_transfer, with the deviation
///
///   √(w² Σ_ii + (1 − w²) σ²)
///
/// of the calibration's covariance Σ and the prior's σ, and w for another cluster. Constants that
/// are not the network's have those of a host like the calibration's.
FabricPrior carried_over(const CalibratedLaw& law, const NetworkKnowledge& knowledge,
                         const FabricFacts& facts);

/// A time as a function of the law.
using LawTime = std::function<Seconds(const FabricLaw&, const JobLaw&)>;

/// What is asked of a law.
struct LawQuestion {
  LawTime time;
  Seconds alone;      // One worker without the others.
  double jitter = 0;  // See LawInput.
  int workers = 1;
  double cost_deviation = 0;  // Of ln of the cost between VMs, beyond what the law knows of.
  double weight = 1;          // Of the law on this network, see FabricTransfer.
};

/// Deviations of the logarithm of a predicted time: by the constants of the fabric with their
/// covariance and by those of the job (see law.h), and the noise of single setups. A constant of
/// a job deviates as a known job's own does, and for one never seen by the spread of jobs times the
/// dispersion; the whole is then as wide as held-out jobs were found to need, f^weight for the
/// factor f, since a width that was learned on one network says little of another. The bytes of
/// gradients are known: they come from a profile. Null is a job never seen.
LogSpread log_spread(const CalibratedLaw& law, const KnownJob* known, const LawQuestion& question);

/// What of the upper one the job's cost makes at least.
double cost_log_deviation(const CalibratedLaw& law, const KnownJob* known,
                          const LawQuestion& question);

/// A law that may be the true one.
struct LawDraw {
  FabricLaw fabric;
  JobLaw own;
};

/// Draws laws as likely as a calibration holds them to be: the constants of the fabric by their
/// covariance, those of the job by its own deviations, or by the spread of jobs for one never seen.
class LawSampler {
 public:
  /// Null is a job never seen.
  LawSampler(const CalibratedLaw& law, const KnownJob* known);

  LawDraw draw(Random& random) const;

 private:
  FabricLaw fabric_;
  JobLaw own_;
  JobLaw deviation_;
  std::vector<std::vector<double>> root_;  // L with L Lᵀ = the covariance.
};

/// The lower triangle L with L Lᵀ = `covariance`, by Cholesky. A direction that has no variance, or
/// less than none by rounding, gets none.
std::vector<std::vector<double>> lower_root(const std::vector<std::vector<double>>& covariance);

}  // namespace stint
