#pragma once

#include <string>
#include <vector>

#include "app/search/search_request.h"
#include "load/predict_inputs.h"
#include "run/search_record.h"

namespace stint {

/// A cluster and batch on the emulated cloud.
struct LiveSetup {
  SearchChoice choice;
  std::string type;  // Of its VMs; of a mixed cluster all, in their order.
  int vms = 1;
  RunPlan plan;
  DollarsPerSecond rate;
};

/// The setups that a search may choose:
///
///   equal VMs   every type, market, number of VMs, number of workers per VM and batch
///   mixed       VMs of two types or markets with a worker on each accelerator, unless equal VMs
///               are predicted to be as fast and as cheap at the same batch; where they are too
///               many, the best by prediction
///
/// Usage errors: nothing is left, or equal VMs alone are too many.
Result<std::vector<LiveSetup>> search_space(const SearchRequest& request,
                                            const PredictInputs& inputs, int reference);

/// The setups of a resumed search, whose files hold its request; those that are no longer possible
/// are dropped.
Result<std::vector<LiveSetup>> search_space_again(const PredictInputs& inputs,
                                                  const SearchRecord& record);

/// Whether some VMs of the setup that train are of this type.
bool uses(const LiveSetup& setup, const std::string& type);

/// The share of the workers on each of these types of VMs.
std::vector<double> worker_shares(const LiveSetup& setup, const std::vector<std::string>& types);

/// Limits the micro-batch of its machines of this type.
void limit_memory(LiveSetup& setup, const std::string& type, int samples);

/// Whether both texts name the same VMs, in any order.
bool same_cluster(const std::string& a, const std::string& b);

}  // namespace stint
