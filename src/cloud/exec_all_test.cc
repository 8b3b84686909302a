#include "cloud/exec_all.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace stint {
namespace {

// Tests that run programs on VMs are in tests/e2e/local_cloud.py.

TEST(ExecAll, EachRankKnowsWhereToMeet) {
  EXPECT_EQ(
      join(rank_variables({.rank = 1, .ranks = 4, .vm = 1, .vms = 4}, "10.77.0.1", 29500), " "),
      "MASTER_ADDR=10.77.0.1 MASTER_PORT=29500 RANK=1 LOCAL_RANK=0 WORLD_SIZE=4 "
      "LOCAL_WORLD_SIZE=1 NODE_RANK=1 GROUP_RANK=1 GROUP_WORLD_SIZE=4 ROLE_RANK=1 "
      "ROLE_WORLD_SIZE=4 ROLE_NAME=default "
      "GLOO_SOCKET_IFNAME=eth0");
}

TEST(ExecAll, RanksOfOneVmAreTold) {
  const std::string variables = join(
      rank_variables({.rank = 3, .ranks = 4, .local_rank = 1, .local_ranks = 2, .vm = 1, .vms = 2},
                     "x", 1),
      " ");
  EXPECT_NE(variables.find(" RANK=3 LOCAL_RANK=1 WORLD_SIZE=4 LOCAL_WORLD_SIZE=2 NODE_RANK=1 "
                           "GROUP_RANK=1 GROUP_WORLD_SIZE=2 "),
            std::string::npos)
      << variables;
}

}  // namespace
}  // namespace stint
