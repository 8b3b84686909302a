#include "app/run/demo_run.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(DemonstrateRun, SaysThatAnInterpreterIsMissing) {
  const auto done = demonstrate_run({}, "/no/such/python3", {});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace stint
