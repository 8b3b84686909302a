#include "provider/agent/machine_facts.h"

#include <algorithm>
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/process.h"
#include "base/sha256.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr Seconds kAnswerTime = 10 * kSecond;
constexpr std::size_t kTextMax = 512;  // Bytes of a text that somebody else chose.

std::string short_text(std::string_view text) {
  const std::string shown = harmless(trim(text));
  return shown.size() > kTextMax ? printable(shown) : shown;
}

/// The standard output of a program; empty where it cannot run or does not end.
std::string output_of(Words words) {
  auto pipe = make_pipe();
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!pipe.ok() || nothing.get() < 0) return {};
  Command command{.words = std::move(words),
                  .in = nothing.get(),
                  .out = pipe->to.get(),
                  .err = nothing.get(),
                  .kept = std::vector<int>{}};
  const auto pid = start_process(command);
  if (!pid.ok()) return {};
  pipe->to.close();
  std::string said;
  const bool ended = read_to_end(pipe->from.get(), kAnswerTime, said);
  return kill_group(*pid) == 0 || ended ? said : "";
}

int processors() {
  cpu_set_t set;
  const bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return known ? CPU_COUNT(&set) : static_cast<int>(std::max(1L, online));
}

Bytes memory() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<double>(::sysconf(_SC_PAGESIZE)) * kByte;
}

std::optional<BytesPerSecond> rate_of(const std::string& nic) {
  const auto text = read_file(fmt::format("/sys/class/net/{}/speed", nic), kKiB);
  const auto megabits = text.ok() ? parse_int(trim(*text)) : std::nullopt;
  if (!megabits || *megabits <= 0) return std::nullopt;
  return *megabits * (kMbit / kSecond);
}

std::vector<NicFacts> nics() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  std::vector<NicFacts> found;
  for (const ifaddrs* it = all; it != nullptr; it = it->ifa_next) {
    const bool counts = it->ifa_addr != nullptr && it->ifa_addr->sa_family == AF_INET &&
                        (it->ifa_flags & IFF_UP) != 0 && (it->ifa_flags & IFF_LOOPBACK) == 0;
    if (!counts) continue;
    char text[INET_ADDRSTRLEN] = {};
    const auto* address = reinterpret_cast<const sockaddr_in*>(it->ifa_addr);
    ::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
    found.push_back({.name = short_text(it->ifa_name), .address = text});
    found.back().rate = rate_of(found.back().name);
  }
  ::freeifaddrs(all);
  return found;
}

/// The hash of our own program.
std::optional<std::string> own_hash() {
  const Descriptor file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return std::nullopt;
  Sha256 hash;
  std::vector<char> bytes(1U << 20U);
  ssize_t got = 0;
  while ((got = ::read(file.get(), bytes.data(), bytes.size())) > 0) {
    hash.add({bytes.data(), static_cast<std::size_t>(got)});
  }
  if (got < 0) return std::nullopt;
  return to_hex(hash.digest());
}

}  // namespace

std::vector<GpuFacts> parse_gpus(std::string_view output) {
  constexpr double kMemoryMax = 1e9;  // MiB; more is no memory of a GPU.
  std::vector<GpuFacts> gpus;
  for (const std::string& line : split(output, '\n')) {
    const std::size_t comma = line.rfind(',');
    if (comma == std::string::npos) continue;
    const std::string name = short_text(std::string_view(line).substr(0, comma));
    const auto memory = parse_double(trim(std::string_view(line).substr(comma + 1)));
    if (name.empty() || !memory || *memory < 0 || *memory > kMemoryMax) continue;
    const bool same =
        !gpus.empty() && gpus.back().name == name && gpus.back().memory.in(kMiB) == *memory;
    if (same) ++gpus.back().count;
    if (!same) gpus.push_back({.name = name, .memory = *memory * kMiB});
  }
  return gpus;
}

void add_python(std::string_view output, MachineFacts& facts) {
  const std::vector<std::string> lines = split(output, '\n');
  if (lines.size() < 2 || lines[0].empty() || lines[1].empty()) return;
  facts.interpreter = short_text(lines[0]);
  facts.python = short_text(lines[1]);
  if (lines.size() > 2 && !lines[2].empty()) facts.torch = short_text(lines[2]);
}

MachineFacts gather_facts(const std::optional<std::string>& interpreter) {
  MachineFacts facts;
  utsname system{};
  ::uname(&system);
  facts.architecture = system.machine;
  facts.system = fmt::format("{} {}", system.sysname, system.release);
  facts.processors = processors();
  facts.memory = memory();
  facts.nics = nics();
  facts.binary = own_hash();
  facts.gpus = parse_gpus(
      output_of({"nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"}));
  std::vector<std::string> pythons = {"/usr/bin/python3", "python3"};
  if (interpreter) pythons = {*interpreter};
  for (const std::string& python : pythons) {
    if (!facts.torch) add_python(output_of({python, "-c", kPythonQuestion}), facts);
  }
  return facts;
}

}  // namespace stint
