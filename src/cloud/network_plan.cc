#include "cloud/network_plan.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr const char* kBridge = "br0";
constexpr Bytes kBurstMin = 128 * kKiB;
constexpr int kQueuePackets = 4000;  // Larger than a TCP window, so that the queue drops nothing.
constexpr int kFirstRange = 77;
constexpr int kRanges = 256;
constexpr int kHostsOfBlock = 254;  // Without addresses that end in 0 and 255, which look special.

/// /proc/net/route prints addresses as hexadecimal words with the first byte lowest.
std::uint32_t route_word(const std::string& text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

/// Whether the route to `target` with `mask` has addresses in 10.`range`.0.0/16. A default route
/// has all addresses, and does not count.
bool touches(std::uint32_t target, std::uint32_t mask, int range) {
  if (mask == 0) return false;
  const std::uint32_t both = mask & 0xffffU;
  const std::uint32_t base = 10U | (static_cast<std::uint32_t>(range) << 8U);
  return (target & both) == (base & both);
}

/// The one class of the device, to be added or changed.
Words class_command(const char* verb, const std::string& device, BytesPerSecond rate) {
  const std::string speed = fmt::format("{:.0f}bit", rate.in(kBit / kSecond));
  const std::string burst = fmt::format("{:.0f}b", htb_burst(rate).in(kByte));
  // The quantum matters only between classes; without one the kernel warns about its default.
  return {"tc",  "class", verb,  "dev",   device, "parent", "1:",  "classid", "1:1",
          "htb", "rate",  speed, "burst", burst,  "cburst", burst, "quantum", "60000"};
}

}  // namespace

int free_range(std::string_view routes) {
  std::vector<bool> taken(kRanges, false);
  for (const std::string& line : split(routes, '\n')) {
    const std::vector<std::string> cells = split(line, '\t');
    if (cells.size() < 8 || cells[1] == "Destination") continue;
    const std::uint32_t target = route_word(cells[1]);
    const std::uint32_t mask = route_word(cells[7]);
    for (int range = 0; range < kRanges; ++range) {
      if (touches(target, mask, range)) taken[static_cast<std::size_t>(range)] = true;
    }
  }
  for (int i = 0; i < kRanges; ++i) {
    const int range = (kFirstRange + i) % kRanges;
    if (!taken[static_cast<std::size_t>(range)]) return range;
  }
  return kFirstRange;
}

std::string vm_address(int range, int index) {
  CHECK(index >= 1);
  CHECK(index <= 256 * kHostsOfBlock);
  return fmt::format("10.{}.{}.{}", range, (index - 1) / kHostsOfBlock,
                     (index - 1) % kHostsOfBlock + 1);
}

Bytes htb_burst(BytesPerSecond rate) { return std::max(kBurstMin, rate * kMillisecond); }

std::vector<Words> shaping_commands(const std::string& device, BytesPerSecond rate) {
  return {{"tc", "qdisc", "add", "dev", device, "root", "handle", "1:", "htb", "default", "1"},
          class_command("add", device, rate),
          {"tc", "qdisc", "add", "dev", device, "parent", "1:1", "pfifo", "limit",
           std::to_string(kQueuePackets)}};
}

Words reshaping_command(const std::string& device, BytesPerSecond rate) {
  return class_command("change", device, rate);
}

std::string port_name(int index) { return fmt::format("port{}", index); }

std::vector<Words> switch_commands() {
  return {{"ip", "link", "add", kBridge, "type", "bridge", "mcast_snooping", "0"},
          {"ip", "link", "set", kBridge, "up"}};
}

std::vector<Words> plug_commands(const NicPlan& nic, int process) {
  const std::string port = port_name(nic.index);
  std::vector<Words> commands = {{"ip", "link", "add", port, "type", "veth", "peer", "name",
                                  kNicName, "netns", std::to_string(process)},
                                 {"ip", "link", "set", port, "master", kBridge, "up"}};
  for (Words& words : shaping_commands(port, nic.rate)) commands.push_back(std::move(words));
  return commands;
}

std::vector<Words> vm_commands(const NicPlan& nic) {
  std::vector<Words> commands = {{"ip", "link", "set", "lo", "up"},
                                 {"ip", "addr", "add", nic.address + "/16", "dev", kNicName},
                                 {"ip", "link", "set", kNicName, "up"}};
  for (Words& words : shaping_commands(kNicName, nic.rate)) commands.push_back(std::move(words));
  return commands;
}

}  // namespace stint
