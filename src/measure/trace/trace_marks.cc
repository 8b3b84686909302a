#include "measure/trace/trace_marks.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace stint {
namespace {

struct Element {
  std::string_view type;
  int bytes;
};

// As operators ("c10::Half") and as collectives ("Half") call them.
constexpr std::array<Element, 17> kElements{{{"float", 4},
                                             {"Float", 4},
                                             {"double", 8},
                                             {"Double", 8},
                                             {"c10::Half", 2},
                                             {"Half", 2},
                                             {"c10::BFloat16", 2},
                                             {"BFloat16", 2},
                                             {"int", 4},
                                             {"Int", 4},
                                             {"long int", 8},
                                             {"long", 8},
                                             {"Long", 8},
                                             {"unsigned char", 1},
                                             {"Byte", 1},
                                             {"signed char", 1},
                                             {"Char", 1}}};
constexpr int kUsualElement = 4;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_all_reduce(std::string_view name) {
  return contains(name, "allreduce") || contains(name, "all_reduce") ||
         contains(name, "AllReduce") || contains(name, "Allreduce");
}

bool is_on_gpu(std::string_view category) {
  return category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset";
}

/// The rows of an operator's input when they are samples.
std::optional<std::int64_t> samples_of(const TraceEvent& event) {
  const std::string_view name = event.name;
  if (name == "aten::embedding") return event.rows_second;  // The table comes first.
  if (name == "aten::linear" || name == "aten::conv1d" || name == "aten::conv2d" ||
      name == "aten::conv3d") {
    return event.rows_first;
  }
  return std::nullopt;
}

/// What the names that PyTorch gives to parts of a loop mean.
std::optional<MarkKind> kind_of(std::string_view name) {
  if (name.starts_with("ProfilerStep#")) return MarkKind::kStep;
  if (name == "torch::autograd::AccumulateGrad") return MarkKind::kGradient;
  if (name.starts_with("autograd::engine::evaluate_function")) return MarkKind::kAutograd;
  if (name.starts_with("Optimizer.step#")) return MarkKind::kUpdate;
  if (name.starts_with("Optimizer.zero_grad#")) return MarkKind::kZero;
  if (name.starts_with("enumerate(DataLoader)#")) return MarkKind::kInput;
  if (name == "DistributedDataParallel.forward") return MarkKind::kForward;
  if (name.starts_with("nn.Module: ")) return MarkKind::kForward;
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> TraceMarks::message_bytes(const TraceEvent& event) {
  if (!event.elements || *event.elements < 1) return std::nullopt;
  const auto* const found =
      std::find_if(kElements.begin(), kElements.end(),
                   [&](const Element& it) { return it.type == event.element_type; });
  const bool known = found != kElements.end();
  if (!known) assumed_types_ = true;
  constexpr std::int64_t kMost = 1'000'000'000'000'000;  // More than any message.
  return std::min(*event.elements, kMost) * (known ? found->bytes : kUsualElement);
}

/// An all-reduce in one of the four ways that it shows.
std::optional<TraceMark> TraceMarks::reduction_of(const TraceEvent& event) {
  std::optional<MarkKind> kind;
  const std::string_view name = event.name;
  if (is_on_gpu(event.category)) {
    const bool ours =
        name.starts_with("nccl") && (is_all_reduce(name) || is_all_reduce(event.collective));
    if (ours) kind = MarkKind::kReduceKernel;
  } else if (name == "c10d::allreduce_") {
    kind = MarkKind::kReduceCall;
  } else if (name == "record_param_comms" && is_all_reduce(event.collective)) {
    kind = MarkKind::kReduceRecord;
  } else if (name == "nccl:all_reduce" || name == "gloo:all_reduce") {
    kind = MarkKind::kReduceSend;
  }
  if (!kind) return std::nullopt;
  if (event.group_size && *event.group_size > group_size_.value_or(0)) {
    group_size_ = event.group_size;
  }
  return TraceMark{.kind = *kind, .number = message_bytes(event)};
}

std::optional<TraceMark> TraceMarks::mark_of(const TraceEvent& event) {
  // What the processor says of itself is repeated on the GPU's time line.
  if (event.category == "gpu_user_annotation") return std::nullopt;
  if (const auto reduction = reduction_of(event)) return reduction;
  if (is_on_gpu(event.category)) {
    if (event.name.starts_with("nccl")) return std::nullopt;
    return TraceMark{.kind = MarkKind::kKernel, .number = event.correlation};
  }
  if (event.category == "cuda_runtime" || event.category == "cuda_driver") {
    if (!event.correlation) return std::nullopt;
    return TraceMark{.kind = MarkKind::kLaunch, .number = event.correlation};
  }
  if (const auto samples = samples_of(event)) {
    return TraceMark{.kind = MarkKind::kBatch, .number = samples};
  }
  const auto kind = kind_of(event.name);
  if (!kind) return std::nullopt;
  if (*kind == MarkKind::kGradient) {
    return TraceMark{.kind = *kind, .number = message_bytes(event)};
  }
  if (*kind == MarkKind::kInput && contains(event.name, "SingleProcess")) loads_itself_ = true;
  return TraceMark{.kind = *kind};
}

void TraceMarks::add(const TraceEvent& event) {
  if (event.phase != 'X' || !event.start) return;
  std::optional<TraceMark> mark = mark_of(event);
  if (!mark) return;
  if (marks_.size() >= kMarksMax) {
    ++dropped_;
    return;
  }
  mark->start = *event.start;
  mark->end = mark->start + event.duration;
  marks_.push_back(*mark);
}

}  // namespace stint
