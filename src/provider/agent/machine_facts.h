#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// GPUs of one model.
struct GpuFacts {
  std::string name = {};
  Bytes memory = {};  // Of each.
  int count = 1;
};

struct NicFacts {
  std::string name = {};
  std::string address = {};                 // IPv4.
  std::optional<BytesPerSecond> rate = {};  // As the kernel has it; absent: it does not say.
};

/// What a machine is, as its agent finds it.
struct MachineFacts {
  std::string architecture = {};  // "x86_64", as uname has it.
  std::string system = {};        // "Linux 6.1.0-18-amd64".
  int processors = 1;             // That the agent may use.
  Bytes memory = {};
  std::vector<GpuFacts> gpus = {};
  std::vector<NicFacts> nics = {};           // Without loopback.
  std::optional<std::string> provider = {};  // By its metadata service: "ec2", "gcp", "azure".
  std::optional<std::string> type = {};
  std::optional<std::string> zone = {};
  std::optional<std::string> interpreter = {};  // Python that was found,
  std::optional<std::string> python = {};       // its version,
  std::optional<std::string> torch = {};        // and that of its torch.
  std::optional<std::string> binary = {};       // SHA-256 of the agent's program.
};

template <class Walk>
void describe(Walk& walk, Like<Walk, GpuFacts>& it) {
  walk.field("name", it.name, "Model.");
  walk.number("memory_bytes", it.memory, kByte, "Memory of each.", Range::kNotNegative);
  walk.field("count", it.count, "How many of them.", {.range = Range::kAtLeastOne});
}

template <class Walk>
void describe(Walk& walk, Like<Walk, NicFacts>& it) {
  walk.field("name", it.name, "Name of the interface.");
  walk.field("address", it.address, "IPv4 address.");
  walk.number("rate_bytes_per_s", it.rate, kByte / kSecond, "Rate, where the kernel knows it.",
              Range::kPositive);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, MachineFacts>& it) {
  walk.field("architecture", it.architecture, "Architecture of the processor.");
  walk.field("system", it.system, "Kernel and its release.");
  walk.field("processors", it.processors, "Processors.", {.range = Range::kAtLeastOne});
  walk.number("memory_bytes", it.memory, kByte, "Memory.", Range::kNotNegative);
  walk.field("gpus", it.gpus, "GPUs by model.");
  walk.field("nics", it.nics, "Network interfaces.");
  walk.field("provider", it.provider, "Provider, by the metadata service.");
  walk.field("type", it.type, "VM type, by the metadata service.");
  walk.field("zone", it.zone, "Zone, by the metadata service.");
  walk.field("interpreter", it.interpreter, "Python interpreter.");
  walk.field("python", it.python, "Version of Python.");
  walk.field("torch", it.torch, "Version of PyTorch; absent: that Python has none.");
  walk.field("binary", it.binary, "SHA-256 of the agent's program.");
}

/// The output of nvidia-smi --query-gpu=name,memory.total --format=csv,noheader,nounits: a line for
/// each GPU, memory in MiB. Lines that are none are left out.
std::vector<GpuFacts> parse_gpus(std::string_view output);

/// The output of the program below: interpreter, version of Python, version of torch or nothing.
void add_python(std::string_view output, MachineFacts& facts);
inline constexpr const char* kPythonQuestion =
    "import importlib.metadata as m, sys\n"
    "print(sys.executable); print(sys.version.split()[0])\n"
    "try: print(m.version('torch'))\n"
    "except m.PackageNotFoundError: pass\n";

/// What this machine is, without its metadata service. Programs that do not answer are ended after
/// ten seconds each. `interpreter` is Python to ask, else /usr/bin/python3 and python3.
MachineFacts gather_facts(const std::optional<std::string>& interpreter);

}  // namespace stint
