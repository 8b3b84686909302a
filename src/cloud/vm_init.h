#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "cloud/metadata.h"
#include "cloud/network_plan.h"

namespace stint {

/// The news of one VM, in memory that the keeper shares with it; 0 means none yet.
struct SharedNews {
  std::atomic<std::int64_t> told_at_s{0};
  std::atomic<std::int64_t> takes_at_s{0};
};

/// Memory for the news of `count` VMs that processes forked later share. It is never given back:
/// it lives as long as the keeper.
SharedNews* shared_news(std::size_t count);

void tell(SharedNews& news, Seconds told_at, Seconds takes_at);
MetadataNews read_news(const SharedNews& news);

/// What the first process of a VM needs to know.
struct VmInit {
  MetadataFacts facts;
  NicPlan nic;
  std::uint64_t seed = 0;  // Of its tokens.
  int go = -1;             // A byte comes from here once the NIC is plugged in.
  int report = -1;         // Where "ok" or an error is said.
  const SharedNews* news = nullptr;
};

/// The life of the first process of a VM, in namespaces of its own: it brings up the NIC, says so,
/// and serves metadata until it is killed. With it die all processes of the VM, by the kernel.
[[noreturn]] void run_vm(const VmInit& init);

/// Has the namespace we are in send as fast as its NIC allows all the time: Reno without a slow
/// start after a pause. BBR, a default of some computers, took 7 % longer for an all-reduce of 19
/// MB at 100 Mbit/s, because its probing makes room that a shaped link does not need.
Status steady_tcp();

/// A /proc that shows the processes of the namespace we are in, hidden from all others. Some
/// containers forbid it, and then the outer one stays.
void mount_own_proc();

}  // namespace stint
