#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/units.h"

namespace stint {

/// The parameters of one VM's NIC.
struct NicPlan {
  int index = 1;        // Number of the VM, from 1.
  std::string address;  // "10.77.0.1".
  BytesPerSecond rate;
};

/// The name of the NIC inside every VM.
inline constexpr const char* kNicName = "eth0";

/// The second number of a range 10.N.0.0/16 that no route of the computer touches, as
/// /proc/net/route lists them. Our addresses exist only inside our namespaces, so that this only
/// avoids the confusion of two networks with the same addresses.
int free_range(std::string_view routes);

/// The address of the VM `index` (from 1 to kVmsOfLifeMax) in the range: no two VMs of a cluster
/// ever share one, so that no VM is mistaken for an earlier one.
std::string vm_address(int range, int index);

/// The burst of a class: 1 ms of its rate, at least 128 KiB. With less, the kernel's timer keeps
/// fast classes below their rate.
Bytes htb_burst(BytesPerSecond rate);

/// Commands that shape the egress of `device` to `rate`, with HTB: its error is below 2 %, where
/// that of TBF was 8.5 %.
std::vector<Words> shaping_commands(const std::string& device, BytesPerSecond rate);

/// The command that changes the rate of a shaped device.
Words reshaping_command(const std::string& device, BytesPerSecond rate);

/// The device of the switch that the VM `index` is plugged into.
std::string port_name(int index);

/// Commands that make the switch, in its own namespace.
std::vector<Words> switch_commands();

/// Commands that plug the VM whose first process is `process` into the switch, run beside it.
std::vector<Words> plug_commands(const NicPlan& nic, int process);

/// Commands that bring up the VM's side, run inside it.
std::vector<Words> vm_commands(const NicPlan& nic);

}  // namespace stint
