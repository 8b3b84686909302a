#include "measure/trace/trace_iterations.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

/// Events by their times in milliseconds.
class Trace {
 public:
  TraceEvent& add(std::string_view name, double from, double to, std::string_view category = "") {
    events_.push_back({.name = name,
                       .category = category,
                       .start = from * kMillisecond,
                       .duration = (to - from) * kMillisecond});
    return events_.back();
  }

  TraceIterations find() const {
    TraceMarks marks;
    for (const TraceEvent& event : events_) marks.add(event);
    return find_iterations(marks);
  }

 private:
  std::vector<TraceEvent> events_;
};

constexpr const char* kNode = "autograd::engine::evaluate_function: X";
constexpr const char* kLoader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

double ms(const std::optional<Seconds>& time) { return time ? time->in(kMillisecond) : -1; }

/// An iteration of 100 ms from `at`: input 10, forward from 20 to 40, backward to 80 with
/// all-reduces after a quarter and all of it, update 90 to 96.
void add_iteration(Trace& trace, double at) {
  trace.add(kLoader, at, at + 10);
  trace.add("DistributedDataParallel.forward", at + 20, at + 35);
  trace.add(kNode, at + 40, at + 50);
  trace.add(kNode, at + 50, at + 80);
  trace.add("c10d::allreduce_", at + 50, at + 50.5).elements = 1000;
  trace.add("c10d::allreduce_", at + 81, at + 81.5).elements = 500;
  trace.add("gloo:all_reduce", at + 51, at + 60);
  trace.add("gloo:all_reduce", at + 55, at + 70);
  trace.add("Optimizer.step#SGD.step", at + 90, at + 96);
}

TEST(TraceIterations, AreTheProfilersSteps) {
  Trace trace;
  for (int i = 0; i < 3; ++i) {
    add_iteration(trace, 100.0 * i);
    // Kineto writes a step behind what it holds.
    trace.add("ProfilerStep#1", 100.0 * i, 100.0 * i + 99);
  }
  trace.add("ProfilerStep#4", 300, 301);  // Cut off: it has no backward pass.
  const TraceIterations found = trace.find();
  EXPECT_EQ(found.rhythm, TraceRhythm::kProfilerSteps);
  ASSERT_EQ(found.iterations.size(), 3U);
  const TraceIteration& it = found.iterations[1];
  EXPECT_NEAR(ms(it.time), 99, 1e-9);
  EXPECT_NEAR(ms(it.input), 10, 1e-9);
  EXPECT_NEAR(ms(it.forward), 20, 1e-9);   // 20 to 40: the loss belongs to it.
  EXPECT_NEAR(ms(it.backward), 40, 1e-9);  // 40 to 80.
  EXPECT_NEAR(ms(it.update), 6, 1e-9);
  EXPECT_NEAR(ms(it.communication), 19, 1e-9);  // 51 to 70; they overlap.
  EXPECT_FALSE(it.on_gpu);
  ASSERT_EQ(it.reductions.size(), 2U);
  EXPECT_NEAR(it.reductions[0].ready, 0.25, 1e-9);  // (50 - 40) / 40.
  EXPECT_EQ(it.reductions[0].bytes, 4000 * kByte);
  EXPECT_NEAR(it.reductions[1].ready, 1, 1e-9);
}

// Three updates are two iterations, from the end of one to the end of the next.
TEST(TraceIterations, FollowTheUpdatesWithoutSteps) {
  Trace trace;
  for (int i = 0; i < 3; ++i) add_iteration(trace, 100.0 * i);
  const TraceIterations found = trace.find();
  EXPECT_EQ(found.rhythm, TraceRhythm::kUpdates);
  ASSERT_EQ(found.iterations.size(), 2U);
  EXPECT_NEAR(ms(found.iterations[0].time), 100, 1e-9);
  EXPECT_NEAR(ms(found.iterations[0].forward), 20, 1e-9);
}

TEST(TraceIterations, CountAStepThatIsToldTwiceOnce) {
  Trace trace;
  add_iteration(trace, 0);
  trace.add("ProfilerStep#1", 0, 99);
  trace.add("ProfilerStep#1", 0, 99);
  EXPECT_EQ(trace.find().iterations.size(), 1U);
}

TEST(TraceIterations, AreNoneWithoutARhythm) {
  EXPECT_EQ(Trace().find().rhythm, TraceRhythm::kNone);
  Trace trace;
  add_iteration(trace, 0);
  EXPECT_TRUE(trace.find().iterations.empty());
}

// Forward begins at 13, when the gradients were zeroed, for want of an event of the model.
TEST(TraceIterations, BeginForwardWhenDataAndGradientsAreReady) {
  Trace trace;
  trace.add("ProfilerStep#1", 0, 100);
  trace.add(kLoader, 2, 10);
  trace.add("Optimizer.zero_grad#SGD.zero_grad", 12, 13);
  trace.add(kNode, 40, 80);
  const TraceIterations found = trace.find();
  ASSERT_EQ(found.iterations.size(), 1U);
  EXPECT_NEAR(ms(found.iterations[0].forward), 27, 1e-9);
  EXPECT_FALSE(found.iterations[0].update);
  EXPECT_FALSE(found.iterations[0].communication);
  EXPECT_TRUE(found.iterations[0].reductions.empty());
}

// The processor is done with forward after 10 ms and with backward after 20; the GPU needs 35 and
// 50. The update's kernel is launched at 21 and runs last.
TEST(TraceIterations, TakeTheTimesOfKernelsWhereThereAreAny) {
  Trace trace;
  trace.add("ProfilerStep#1", 0, 100);
  trace.add(kNode, 10, 20);
  trace.add("Optimizer.step#SGD.step", 20.5, 22);
  const auto add_kernel = [&](std::int64_t id, double launch, double from, double to) {
    trace.add("cudaLaunchKernel", launch, launch, "cuda_runtime").correlation = id;
    trace.add("sgemm", from, to, "kernel").correlation = id;
  };
  add_kernel(1, 1, 2, 20);
  add_kernel(2, 5, 20, 37);
  add_kernel(3, 12, 37, 87);
  add_kernel(4, 21, 90, 92);
  trace.add("ncclDevKernel_AllReduce_Sum", 60, 89, "kernel");
  const TraceIterations found = trace.find();
  ASSERT_EQ(found.iterations.size(), 1U);
  const TraceIteration& it = found.iterations[0];
  EXPECT_TRUE(it.on_gpu);
  EXPECT_NEAR(ms(it.forward), 35, 1e-9);
  EXPECT_NEAR(ms(it.backward), 50, 1e-9);
  EXPECT_NEAR(ms(it.update), 2, 1e-9);
  EXPECT_NEAR(ms(it.communication), 29, 1e-9);
}

// Two gradients of 10 and 20 elements of four bytes: 120 bytes. The first operator has 32 rows.
TEST(TraceIterations, KnowGradientsAndBatchByShapes) {
  Trace trace;
  trace.add("ProfilerStep#1", 0, 100);
  trace.add("aten::linear", 5, 6).rows_first = 32;
  trace.add("aten::linear", 7, 8).rows_first = 64;
  trace.add(kNode, 10, 20);
  trace.add("torch::autograd::AccumulateGrad", 11, 12).elements = 10;
  trace.add("torch::autograd::AccumulateGrad", 13, 14).elements = 20;
  const TraceIterations found = trace.find();
  ASSERT_EQ(found.iterations.size(), 1U);
  EXPECT_EQ(found.iterations[0].gradients, 120 * kByte);
  EXPECT_EQ(found.iterations[0].batch, 32);
}

}  // namespace
}  // namespace stint
