#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "cloud/metadata.h"
#include "cloud/network_plan.h"

namespace stint {

/// The notices to one VM, in memory that the keeper shares with it; 0 means none yet.
struct SharedNews {
  std::atomic<std::int64_t> told_at_s{0};
  std::atomic<std::int64_t> takes_at_s{0};
};

/// Memory for the notices of `count` VMs, shared with processes forked later. It is never released,
/// because it lives as long as the keeper.
SharedNews* shared_news(std::size_t count);

void tell(SharedNews& news, Seconds told_at, Seconds takes_at);
MetadataNews read_news(const SharedNews& news);

/// The inputs of the first process of a VM.
struct VmInit {
  MetadataFacts facts;
  NicPlan nic;
  std::uint64_t seed = 0;  // Seed of its tokens.
  int go = -1;             // Pipe that receives a byte once the NIC is connected.
  int report = -1;         // Pipe for "ok" or an error.
  const SharedNews* news = nullptr;
};

/// The main function of the first process of a VM, in its own namespaces: it brings up the NIC,
/// reports this, and serves metadata until it is killed. The kernel ends all processes of the VM
/// with it.
[[noreturn]] void run_vm(const VmInit& init);

/// Makes the present namespace always send as fast as its NIC allows: Reno without a slow start
/// after a pause. BBR, the default of some computers, took 7 % longer for an all-reduce of 19 MB at
/// 100 Mbit/s, because its probing leaves a shaped link partly unused.
Status steady_tcp();

/// Mounts a /proc that shows the processes of the present namespace, hidden from all others. Some
/// containers forbid it, and then the outer one stays.
void mount_own_proc();

}  // namespace stint
