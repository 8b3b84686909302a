#include "measure/trace/trace_event.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(TraceEventParser, HasItsLibrary) { EXPECT_TRUE(TraceEventParser::available().ok()); }

TEST(TraceEventParser, ReadsAnEventOfTheBareForm) {
  TraceEventParser parser;
  const auto event = parser.event(
      R"({"name": "aten::empty", "ph": "X", "ts": 36626, "dur": 35, "tid": 1, "pid": "CPU",
          "args": {}})");
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event->name, "aten::empty");
  EXPECT_EQ(event->phase, 'X');
  EXPECT_EQ(event->start, Seconds{});
  EXPECT_NEAR(event->duration.in(kMicrosecond), 35, 1e-9);
  EXPECT_FALSE(event->elements);
}

TEST(TraceEventParser, ReadsTheArgumentsOfAKernelAndOfACollective) {
  TraceEventParser parser;
  const auto kernel = parser.event(
      R"({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "ts": 1.5, "dur": 2.25,
          "args": {"correlation": 77, "Collective name": "allreduce", "In msg nelems": 1000,
                   "dtype": "BFloat16", "Group size": 8}})");
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ(kernel->category, "kernel");
  EXPECT_EQ(kernel->correlation, 77);
  EXPECT_EQ(kernel->collective, "allreduce");
  EXPECT_EQ(kernel->elements, 1000);
  EXPECT_EQ(kernel->element_type, "BFloat16");
  EXPECT_EQ(kernel->group_size, 8);
}

// A list of two tensors, 3 × 4 and 5: 17 elements. A tensor of 32 × 64: 2048, in 32 rows.
TEST(TraceEventParser, CountsElementsByTheDimensionsOfInputs) {
  TraceEventParser parser;
  const auto list = parser.event(
      R"({"name": "c10d::allreduce_", "args": {"Input Dims": [[[3, 4], [5]], [], []],
          "Input type": ["TensorList", "", ""]}})");
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->elements, 17);
  EXPECT_EQ(list->element_type, "TensorList");
  const auto tensor =
      parser.event(R"({"name": "aten::linear", "args": {"Input Dims": [[32, 64], [10, 64]]}})");
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->elements, 2048);
  EXPECT_EQ(tensor->rows_first, 32);
  EXPECT_EQ(tensor->rows_second, 10);
}

TEST(TraceEventParser, TakesOddMembersAsAbsent) {
  TraceEventParser parser;
  const auto event = parser.event(
      R"({"name": 3, "ph": "XX", "ts": "soon", "dur": -4, "args": {"Input Dims": [[], 3],
          "Group size": -1, "correlation": "x"}})");
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event->name, "");
  EXPECT_EQ(event->phase, '?');
  EXPECT_FALSE(event->start);
  EXPECT_EQ(event->duration, Seconds{});
  EXPECT_FALSE(event->rows_first);
  EXPECT_FALSE(event->rows_second);
  EXPECT_FALSE(event->elements);
  EXPECT_FALSE(event->group_size);
  EXPECT_FALSE(event->correlation);
}

TEST(TraceEventParser, CountsTimeFromTheFirstEvent) {
  TraceEventParser parser;
  ASSERT_TRUE(parser.event(R"({"ts": 1700000000000001})").ok());
  EXPECT_EQ(parser.event(R"({"ts": 1700000000000004})")->start, 3 * kMicrosecond);
  EXPECT_EQ(parser.event(R"({"ts": 1700000000000000})")->start, -1 * kMicrosecond);
  EXPECT_FALSE(parser.event(R"({"ts": 1e300})")->start);
}

TEST(TraceEventParser, RefusesWhatIsNoObject) {
  TraceEventParser parser;
  for (const char* text : {"", "[]", "{", R"({"a": })", R"({"a": tru})", "{]"}) {
    EXPECT_FALSE(parser.event(text).ok()) << text;
  }
}

TEST(TraceEventParser, ReadsAnEventLargerThanItsBuffer) {
  TraceEventParser parser;
  const std::string stack(100000, 's');
  const auto event = parser.event(R"({"stack": ")" + stack + R"(", "name": "x"})");
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event->name, "x");
}

TEST(TraceEventParser, ReadsWhichRankItIs) {
  TraceEventParser parser;
  const TraceHeader header =
      parser.header(R"({"backend": "nccl", "rank": 3, "world_size": 8})",
                    R"([{"id": 0, "name": "Tesla V100-SXM2-16GB", "totalGlobalMem": 1}])");
  EXPECT_EQ(header.rank, 3);
  EXPECT_EQ(header.world_size, 8);
  EXPECT_EQ(header.backend, "nccl");
  EXPECT_EQ(header.device, "Tesla V100-SXM2-16GB");
  EXPECT_FALSE(parser.header("", "").rank);
  EXPECT_EQ(parser.header("[]", "{}").device, "");
}

// A double near 1.7e15 holds quarters: decimals beyond its 17 digits cannot change the difference
// of 1000.5 µs by more than that.
TEST(TraceEventParser, ClocksOfManyDigitsAreAsGoodAsADoubleIs) {
  TraceEventParser parser;
  const auto start = [&](const std::string& clock) {
    const auto event = parser.event(R"({"ph": "X", "name": "a", "ts": )" + clock + "}");
    EXPECT_TRUE(event.ok()) << clock;
    return event.ok() && event->start ? event->start->in(kMicrosecond) : -1;
  };
  EXPECT_EQ(start("1700000000000000.123"), 0);
  EXPECT_NEAR(start("1700000000001000.623456789012345"), 1000.5, 0.3);
  EXPECT_NEAR(start("1700000000001000.6234567890123e0"), 1000.5, 0.3);
  EXPECT_NEAR(start("1700000000001000"), 1000, 0.3);
  EXPECT_NEAR(start("170000000000100000.00"), 1.683000000001e17, 128);
}

}  // namespace
}  // namespace stint
