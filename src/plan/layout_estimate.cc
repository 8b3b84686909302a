#include "plan/layout_estimate.h"

namespace stint {

std::span<const LayoutPart> layout_parts() {
  static constexpr LayoutPart kParts[] = {
      {"forward", &LayoutParts::forward},
      {"backward", &LayoutParts::backward},
      {"tensor collectives", &LayoutParts::tensor},
      {"exposed gathers", &LayoutParts::gathers},
      {"stage transfers", &LayoutParts::point_to_point},
      {"pipeline bubble", &LayoutParts::bubble},
      {"exposed gradients", &LayoutParts::gradients},
      {"update", &LayoutParts::update},
      {"host and fixed", &LayoutParts::host},
  };
  return kParts;
}

std::string problem(const LayoutEstimate& it) {
  if (it.p10 > it.mean || it.mean > it.p90) return "the mean must lie between p10 and p90";
  Seconds sum;
  for (const LayoutPart& part : layout_parts()) sum += it.parts.*part.field;
  constexpr double kRounding = 1e-6;
  const bool adds_up = sum <= (1 + kRounding) * it.mean && sum >= (1 - kRounding) * it.mean;
  return adds_up ? "" : "the parts must add up to the mean";
}

}  // namespace stint
