#include "validate/sharded/validate_layout.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stint {

Result<LayoutValidation> validate_layout(const Environment& environment,
                                         const ShardedRequest& request) {
  const auto trials = read_sharded_trials(environment, request);
  if (!trials.ok()) return trials.error();
  std::vector<LayoutOption> options;
  for (const ShardedTrial& trial : trials->trials) {
    CasePointers measured;
    std::copy_if(trial.train.begin(), trial.train.end(), std::back_inserter(measured),
                 [](const ShardedCase* it) { return is_measured(*it); });
    const auto model = ShardedStepModel::fit(measured, trials->priors);
    if (!model.ok()) return model.error();
    for (const ShardedCase* it : trial.test) {
      if (!it->row.unusable.empty()) continue;
      options.push_back({it, std::exp(model->estimate(*it).log_time) * kSecond});
    }
  }
  LayoutValidation validation{.ours = score_layouts(LayoutPolicy::kStint, options),
                              .baselines = {},
                              .split = request.split,
                              .notes = {}};
  for (const LayoutPolicy policy : {LayoutPolicy::kLeastParallel, LayoutPolicy::kMedian}) {
    validation.baselines[name_of(policy)] = score_layouts(policy, options);
  }
  if (validation.ours.overall.n == 0) {
    validation.notes.emplace_back(
        "no model, cluster and batch has two measured layouts, so there is no score");
  }
  return validation;
}

}  // namespace stint
