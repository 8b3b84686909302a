#include "run/worker_output.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

using Lines = std::vector<std::string>;

class WorkerOutputTest : public testing::Test {
 protected:
  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  WorkerOutput output_{place_.path()};
};

TEST_F(WorkerOutputTest, EveryWorkerAndReceiverHasAFile) {
  output_.append_worker({0}, "first");
  output_.append_worker({0, 1}, "second");
  output_.append_receiver(0, "kept");
  EXPECT_EQ(*read_file(place_.path() + "/vm1-worker.log"), "first\n");
  EXPECT_EQ(*read_file(place_.path() + "/vm1.2-worker.log"), "second\n");
  EXPECT_EQ(*read_file(place_.path() + "/vm1-receiver.log"), "kept\n");
}

TEST_F(WorkerOutputTest, TheLastLinesAreThoseSinceTheLatestStart) {
  output_.append_worker({3}, kLogMark + "attempt 1");
  output_.append_worker({3}, "of the first");
  output_.append_worker({3}, kLogMark + "attempt 2");
  for (const char* line : {"one", "", "t\x1bwo", "three"}) output_.append_worker({3}, line);
  EXPECT_EQ(output_.last_lines({3}, 9), (Lines{"one", "t?wo", "three"}));
  EXPECT_EQ(output_.last_lines({3}, 1), Lines{"three"});
  EXPECT_EQ(output_.last_lines({4}, 9), Lines{});
}

// Nothing else depends on logs.
TEST(WorkerOutput, AFolderThatIsGoneEndsNothing) {
  const WorkerOutput output("/nonexistent/logs");
  output.append_worker({0}, "lost");
  EXPECT_TRUE(output.last_lines({0}, 1).empty());
}

}  // namespace
}  // namespace stint
