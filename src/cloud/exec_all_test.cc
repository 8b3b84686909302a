#include "cloud/exec_all.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace stint {
namespace {

// Tests that run programs on VMs are in tests/e2e/local_cloud.py.

TEST(ExecAll, EachRankKnowsWhereToMeet) {
  EXPECT_EQ(join(rank_variables(1, 4, "10.77.0.1", 29500), " "),
            "MASTER_ADDR=10.77.0.1 MASTER_PORT=29500 RANK=1 LOCAL_RANK=0 WORLD_SIZE=4 "
            "LOCAL_WORLD_SIZE=1 NODE_RANK=1 GROUP_RANK=1 GROUP_WORLD_SIZE=4 ROLE_RANK=1 "
            "ROLE_WORLD_SIZE=4 ROLE_NAME=default "
            "GLOO_SOCKET_IFNAME=eth0");
}

}  // namespace
}  // namespace stint
