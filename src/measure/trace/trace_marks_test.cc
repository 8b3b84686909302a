#include "measure/trace/trace_marks.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TraceEvent event_of(std::string_view name, std::string_view category = "") {
  return {.name = name, .category = category, .start = 5 * kSecond, .duration = 2 * kSecond};
}

/// The only mark of an event.
std::optional<TraceMark> mark_of(const TraceEvent& event) {
  TraceMarks marks;
  marks.add(event);
  if (marks.marks().empty()) return std::nullopt;
  return marks.marks().front();
}

TEST(TraceMarks, KnowsTheNamesOfALoopsParts) {
  const std::pair<const char*, MarkKind> cases[] = {
      {"ProfilerStep#7", MarkKind::kStep},
      {"DistributedDataParallel.forward", MarkKind::kForward},
      {"nn.Module: Net_0", MarkKind::kForward},
      {"autograd::engine::evaluate_function: AddmmBackward0", MarkKind::kAutograd},
      {"Optimizer.step#SGD.step", MarkKind::kUpdate},
      {"Optimizer.zero_grad#SGD.zero_grad", MarkKind::kZero},
      {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", MarkKind::kInput},
      {"c10d::allreduce_", MarkKind::kReduceCall},
      {"gloo:all_reduce", MarkKind::kReduceSend},
      {"nccl:all_reduce", MarkKind::kReduceSend}};
  for (const auto& [name, kind] : cases) {
    const auto mark = mark_of(event_of(name));
    ASSERT_TRUE(mark) << name;
    EXPECT_EQ(mark->kind, kind) << name;
    EXPECT_EQ(mark->start, 5 * kSecond);
    EXPECT_EQ(mark->end, 7 * kSecond);
  }
  for (const char* name : {"aten::add_", "gloo:broadcast", "", "Optimizer"}) {
    EXPECT_FALSE(mark_of(event_of(name))) << name;
  }
}

TEST(TraceMarks, LeavesOutEventsWithoutATimeOrDuration) {
  TraceEvent event = event_of("ProfilerStep#1");
  event.phase = 'B';
  EXPECT_FALSE(mark_of(event));
  event = event_of("ProfilerStep#1");
  event.start.reset();
  EXPECT_FALSE(mark_of(event));
  EXPECT_FALSE(mark_of(event_of("ProfilerStep#1", "gpu_user_annotation")));
}

// 1000 elements: 2000 bytes as half precision, 4000 where no type is told.
TEST(TraceMarks, KnowsTheBytesOfMessages) {
  TraceMarks marks;
  TraceEvent event = event_of("ncclDevKernel_AllReduce_Sum_f32", "kernel");
  event.elements = 1000;
  event.element_type = "Half";
  event.group_size = 4;
  marks.add(event);
  EXPECT_FALSE(marks.assumed_types());
  event = event_of("c10d::allreduce_");
  event.elements = 1000;
  event.element_type = "TensorList";
  marks.add(event);
  ASSERT_EQ(marks.marks().size(), 2U);
  EXPECT_EQ(marks.marks()[0].kind, MarkKind::kReduceKernel);
  EXPECT_EQ(marks.marks()[0].number, 2000);
  EXPECT_EQ(marks.marks()[1].number, 4000);
  EXPECT_TRUE(marks.assumed_types());
  EXPECT_EQ(marks.group_size(), 4);
}

TEST(TraceMarks, JoinsKernelsAndTheirLaunches) {
  TraceEvent event = event_of("volta_sgemm", "kernel");
  event.correlation = 9;
  EXPECT_EQ(mark_of(event)->kind, MarkKind::kKernel);
  EXPECT_EQ(mark_of(event)->number, 9);
  event = event_of("cudaLaunchKernel", "cuda_runtime");
  event.correlation = 9;
  EXPECT_EQ(mark_of(event)->kind, MarkKind::kLaunch);
  EXPECT_FALSE(mark_of(event_of("cudaDeviceSynchronize", "cuda_runtime")));
  EXPECT_FALSE(mark_of(event_of("ncclDevKernel_Broadcast", "kernel")));
}

TEST(TraceMarks, TakesTheRowsOfInputsForSamples) {
  TraceEvent event = event_of("aten::linear");
  event.rows_first = 32;
  event.rows_second = 10;
  EXPECT_EQ(mark_of(event)->number, 32);
  event.name = "aten::embedding";
  EXPECT_EQ(mark_of(event)->number, 10);
  event.name = "aten::addmm";  // Its rows may be samples times positions.
  EXPECT_FALSE(mark_of(event));
}

TEST(TraceMarks, KnowsWhenTheLoopLoadsItsDataItself) {
  TraceMarks marks;
  marks.add(event_of("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"));
  EXPECT_FALSE(marks.loads_itself());
  marks.add(event_of("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"));
  EXPECT_TRUE(marks.loads_itself());
}

}  // namespace
}  // namespace stint
