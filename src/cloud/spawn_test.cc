#include "cloud/spawn.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

// Tests that start programs are in local_cluster_test.cc.

TEST(Spawn, ClientsOfAwsFindTheMetadataOnTheLoopback) {
  EXPECT_EQ(metadata_variable(), "AWS_EC2_METADATA_SERVICE_ENDPOINT=http://127.0.0.1:1338");
}

TEST(Spawn, WithoutAVmThereIsAnError) {
  const auto pid = spawn_in({}, {.words = {"true"}});
  ASSERT_FALSE(pid.ok());
  EXPECT_NE(pid.error().message.find("cannot enter the VM"), std::string::npos);
}

}  // namespace
}  // namespace stint
