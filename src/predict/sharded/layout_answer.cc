#include "predict/sharded/layout_answer.h"

#include <algorithm>

namespace stint {

LayoutEstimate estimate_of(const LayoutQuestion& question, const LayoutChoice& choice) {
  const double spread = question.model.laws.spread;
  const ShardedShape& shape = question.model.setup.shape;
  LayoutEstimate it{
      .layout = choice.layout,
      .mean = choice.iteration,
      .p10 = std::max(choice.low(spread), step_at_peak(setup_of(question, choice.layout))),
      .p90 = choice.high(spread),
      .parts = {.forward = choice.parts.forward,
                .backward = choice.parts.backward,
                .tensor = choice.parts.tensor,
                .gathers = choice.parts.gathers,
                .point_to_point = choice.parts.point_to_point,
                .bubble = choice.parts.bubble,
                .gradients = choice.parts.gradients,
                .update = choice.parts.update,
                .host = choice.parts.host},
      .reserved = choice.memory.total(),
      .allocated = choice.memory.allocated(),
      .available = question.cluster.memory,
      .p_fits = choice.p_fits,
      .unvalidated = unvalidated_parts(question, choice.layout)};
  if (!shape.patches) {
    it.tokens_per_second =
        question.global_batch * question.model.setup.sequence / choice.iteration.in(kSecond);
  }
  return it;
}

}  // namespace stint
