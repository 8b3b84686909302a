#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "measure/tables/nccl_text.h"
#include "predict/collective.h"
#include "solver/least_squares.h"

namespace stint {

/// The law of a cluster's all-reduce time over message sizes.
struct CollectiveConstants {
  Link link;
  double blend = 1;
};

/// Time of an all-reduce of `payload` over `workers`:
///
///   T = (L^p + B^p)^(1/p),  L = 2 (n − 1) · α,  B = 2 (n − 1)/n · S · β
///
/// p = 1 is the ring that works one step after the other. NCCL splits messages into chunks and
/// pipelines them; k chunks over L's hops take about (1 + k)·(L + B/k), and the best k, √(B/L),
/// gives (√L + √B)², which is p = 1/2 (as for pipelined broadcasts, Johnsson and Ho 1989). Its
/// protocols (LL, LL128, Simple), each with lower latency or higher bandwidth than the next, follow
/// that envelope in steps, so that p lies between. Requires workers ≥ 2.
Seconds collective_time(Bytes payload, int workers, const CollectiveConstants& constants);

/// A time with its 80 % interval.
struct CollectiveEstimate {
  Seconds mean;
  Seconds p10;
  Seconds p90;
};

/// True for an all-reduce over two workers or more, which the law describes.
bool is_modelled(const CollectiveRow& row);

/// The law above, fitted to each cluster on log time with priors.
class CollectiveModel {
 public:
  /// Uses the rows with a time that are modelled; without any it is bad input.
  static Result<CollectiveModel> fit(std::span<const CollectiveRow> rows);

  /// Requires that `row` is modelled. A cluster that was not fitted gets the mean constants of the
  /// most similar ones: of the same type with other numbers of VMs, else those that also stay
  /// inside one VM or also do not, else all; the interval widens accordingly.
  CollectiveEstimate estimate(const CollectiveRow& row) const;

 private:
  struct Cluster {
    std::string type;
    int vms = 1;
    int workers = 1;
    Fitted fitted;
    std::vector<Bytes> sizes;  // Sizes that were measured.
    double row_deviation = 0;
  };

  static Result<Cluster> fit_cluster(const std::vector<CollectiveRow>& rows);

  std::vector<Cluster> clusters_;
};

/// A linear law of time over size, per cluster: least squares on relative error. Nothing for
/// clusters without two sizes in training.
std::optional<Seconds> alpha_beta_time(std::span<const CollectiveRow> train,
                                       const CollectiveRow& row);

/// The bandwidth of the largest message at every size.
std::optional<Seconds> perfect_bandwidth_time(std::span<const CollectiveRow> train,
                                              const CollectiveRow& row);

}  // namespace stint
