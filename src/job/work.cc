#include "job/work.h"

namespace stint {

std::span<const EnumName<WorkKind>> names_of(WorkKind /*type*/) {
  static constexpr EnumName<WorkKind> kNames[] = {
      {WorkKind::kProduct, "product"},         {WorkKind::kAttention, "attention"},
      {WorkKind::kConvolution, "convolution"}, {WorkKind::kSweep, "sweep"},
      {WorkKind::kMapSweep, "map-sweep"},
  };
  return kNames;
}

std::span<const EnumName<WorkPrecision>> names_of(WorkPrecision /*type*/) {
  static constexpr EnumName<WorkPrecision> kNames[] = {
      {WorkPrecision::kMixed, "mixed"}, {WorkPrecision::kBf16, "bf16"},
      {WorkPrecision::kFp16, "fp16"},   {WorkPrecision::kTf32, "tf32"},
      {WorkPrecision::kFp32, "fp32"},   {WorkPrecision::kFp8, "fp8"},
  };
  return kNames;
}

std::span<const EnumName<Recompute>> names_of(Recompute /*type*/) {
  static constexpr EnumName<Recompute> kNames[] = {
      {Recompute::kNone, "none"}, {Recompute::kSelective, "selective"}, {Recompute::kFull, "full"}};
  return kNames;
}

Flops flops_per_sample(const JobWork& work) {
  Flops sum;
  for (const WorkOperator& it : work.operators) {
    sum += it.count * (it.forward.value_or(1) + it.backward) * it.flops.value_or(Flops{});
  }
  return sum;
}

double evaluation_share(const JobWork& work) {
  return work.evaluation ? work.evaluation->samples / work.evaluation->every : 0;
}

}  // namespace stint
