#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "load/environment.h"
#include "plan/layout_estimate.h"

namespace stint {

struct LayoutsRequest {
  std::string job;          // The training of a model, as text (models/model_job.h).
  std::string cluster;      // Equal VMs.
  std::string layout = {};  // One layout to take apart; empty: all.
  int rows = 10;            // Layouts in the answer.
};

/// The layouts of a model on a cluster.
struct LayoutsAnswer {
  std::string model;
  std::string cluster;
  std::string gpu;
  std::int64_t workers = 1;
  int global_batch = 1;
  std::optional<std::int64_t> sequence = {};
  double confidence = 0.9;              // Of fitting, to be feasible.
  std::vector<LayoutEstimate> layouts;  // Fastest first; or the one that was asked about.
  std::int64_t fitting = 0;
  std::int64_t too_large = 0;                           // Layouts that do not fit into memory.
  std::map<std::string, std::int64_t> impossible = {};  // Divisions of the workers, by reason.
  std::optional<std::string> advice = {};               // What would fit where nothing does.
  std::vector<std::string> warnings = {};
};

/// Lists the layouts of one cluster, or takes one apart. That none fits is an answer with advice.
/// Usage errors: no transformer, VMs of several types, a layout that cannot be. Bad input: a GPU
/// without figures.
Result<LayoutsAnswer> list_layouts(const Environment& environment, const LayoutsRequest& request);

}  // namespace stint
