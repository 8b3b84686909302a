#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/views/view.h"
#include "plan/layout_estimate.h"

namespace stint::cli {

/// `stint layouts`.
struct LayoutsView {
  static constexpr const char* kSchema = "stint.layouts/1";
  static constexpr const char* kTitle = "The layouts of a model on one cluster";
  std::string model;
  std::string cluster;
  std::string gpu;
  std::int64_t workers = 1;
  int global_batch = 1;
  std::optional<std::int64_t> sequence;
  double confidence = 0.9;
  std::int64_t fitting = 0;
  std::int64_t too_large = 0;
  std::map<std::string, std::int64_t> impossible;
  std::vector<LayoutEstimate> layouts;
  std::optional<std::string> advice;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, LayoutsView>& it) {
  constexpr FieldRules kSize = {.range = Range::kAtLeastOne};
  walk.field("model", it.model, "Name of the model.", kSize);
  walk.field("cluster", it.cluster, "VMs, as text.", kSize);
  walk.field("gpu", it.gpu, "Accelerator of the VMs.");
  walk.field("workers", it.workers, "Workers, one on each accelerator.", kSize);
  walk.field("global_batch", it.global_batch, "Samples of an iteration.", kSize);
  walk.field("sequence", it.sequence, "Tokens of a sample; absent: no model of text.", kSize);
  walk.field("confidence", it.confidence,
             "Probability of fitting into memory that makes a layout feasible.", kShare);
  walk.field("fitting", it.fitting, "Number of feasible layouts.", kCount);
  walk.field("too_large", it.too_large, "Number of layouts that do not fit into memory.", kCount);
  walk.field("impossible", it.impossible,
             "Divisions of the workers into degrees that no layout has, by reason.");
  walk.field("layouts", it.layouts, "Layouts, fastest first.", kList);
  walk.field("advice", it.advice, "What would hold the model where no layout fits.");
}

}  // namespace stint::cli
