// How fast traces are read, and in how much memory: makes a trace in a temporary folder (1 GB, or
// the megabytes that are asked for), reads it as `stint import trace` does, and beside it with
// Python's json.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/import/import_cases.h"
#include "base/check.h"
#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "bench/wall_time.h"

namespace stint {
namespace {

constexpr int kMegabytes = 1000;
constexpr int kIterations = 40;      // Of which each takes 100 ms.
constexpr double kBackward = 60000;  // Microseconds.
constexpr Bytes kPythonMemory = 12 * kGB;

constexpr const char* kOperators[] = {"aten::add_", "aten::mm", "aten::native_batch_norm",
                                      "aten::cudnn_convolution", "aten::threshold_backward"};

/// Writes events of a GPU job under DDP, as Kineto does, until the file is large enough.
class TraceWriter {
 public:
  TraceWriter(const std::string& path, Bytes size) : file_(path, std::ios::binary), size_(size) {}

  void write() {
    text_ = R"({"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 8}, )"
            "\"traceEvents\": [\n";
    for (int i = 0; i < kIterations; ++i) write_iteration(i);
    text_ += "{}\n], \"traceName\": \"bench\"}\n";
    flush();
    file_.close();
    CHECK(file_.good());
  }

 private:
  void add(const std::string& name, const char* category, double start, double duration,
           const std::string& arguments) {
    text_ += fmt::format(
        "  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": 4711, \"tid\": "
        "4711,\n"
        "    \"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      {}\n    }}\n  }},\n",
        category, name, 1.7e15 + start, duration, arguments);
  }

  void flush() {
    file_ << text_;
    written_ += static_cast<double>(text_.size());
    text_.clear();
  }

  /// Operators, launches and kernels fill an iteration up to its share of the file.
  void write_iteration(int number) {
    const double at = 100000.0 * number;
    const double share = size_.in(kByte) * (number + 1) / kIterations;
    add("DistributedDataParallel.forward", "user_annotation", at + 5000, 20000, "\"x\": 0");
    add("autograd::engine::evaluate_function: MmBackward0", "cpu_op", at + 30000, kBackward,
        "\"Sequence number\": 7");
    add("c10d::allreduce_", "cpu_op", at + 60000, 40,
        R"("Input Dims": [[[25557032]]], "Input type": ["TensorList"])");
    add("Optimizer.step#SGD.step", "user_annotation", at + 92000, 5000, "\"x\": 0");
    while (written_ + static_cast<double>(text_.size()) < share) {
      const double start = at + random_.uniform(6000, 90000);
      ++id_;
      add(kOperators[random_.below(5)], "cpu_op", start, random_.uniform(5, 50),
          fmt::format(R"("External id": {}, "Input Dims": [[64, 256, 56, 56], [256, 64]], )"
                      R"("Input type": ["float", "float"], "Call stack": "train.py(77): \"run\"")",
                      id_));
      add("cudaLaunchKernel", "cuda_runtime", start + 2, 4,
          fmt::format(R"("External id": {0}, "cbid": 211, "correlation": {0})", id_));
      add("void at::native::vectorized_elementwise_kernel<4, float>", "kernel", start + 9, 11,
          fmt::format(R"("External id": {0}, "device": 0, "stream": 7, "correlation": {0}, )"
                      R"("grid": [64, 1, 1], "block": [128, 1, 1], "est. occupancy": 40)",
                      id_));
      if (text_.size() > 1000000) flush();
    }
    add(fmt::format("ProfilerStep#{}", number), "user_annotation", at, 99000, "\"x\": 0");
  }

  std::ofstream file_;
  Bytes size_;
  std::string text_;
  double written_ = 0;
  std::int64_t id_ = 0;
  Random random_{1};
};

/// The most memory that this process ever had.
Bytes peak_memory() {
  rusage usage{};
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  return static_cast<double>(usage.ru_maxrss) * kKiB;
}

void print_row(const char* what, Bytes size, Seconds time, Bytes memory) {
  fmt::print("{:<44}{:>10.1f}{:>12.0f}{:>14.0f}\n", what, time.in(kSecond),
             (size / time).in(kMB / kSecond), memory.in(kMB));
}

void read_ours(const std::string& path, Bytes size) {
  const Seconds start = wall_clock();
  const auto trace = read_trace_file(path);
  const Seconds time = wall_clock() - start;
  CHECK(trace.ok());
  CHECK(trace->found.iterations.size() == kIterations);
  CHECK(trace->header.world_size == 8);
  print_row("stint import trace", size, time, peak_memory());
}

/// In a shell with a limit, because Python needs many times the file's size.
void read_python(const std::string& path, Bytes size) {
  const std::string result = path + ".python";
  const std::string command = fmt::format(
      "ulimit -v {:.0f}; /usr/bin/python3 -c 'import json, resource, sys, time; "
      "t = time.time(); e = json.load(open(sys.argv[1])); t = time.time() - t; "
      "m = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
      "open(sys.argv[2], \"w\").write(str(t) + \" \" + str(m))' {} {} 2>/dev/null",
      kPythonMemory.in(kKiB), shell_quoted(path), shell_quoted(result));
  const int status = std::system(command.c_str());  // NOLINT: a benchmark may run a shell.
  const auto text = read_file(result);
  if (status != 0 || !text.ok()) {
    fmt::print("{:<44}failed within {:.0f} GB of memory\n", "Python's json.load",
               kPythonMemory.in(kGB));
    return;
  }
  const auto parts = split(*text, ' ');
  CHECK(parts.size() == 2);
  print_row("Python's json.load", size, parse_double(parts[0]).value_or(0) * kSecond,
            parse_double(parts[1]).value_or(0) * kKiB);
}

int run(int megabytes) {
  std::string folder = (std::filesystem::temp_directory_path() / "stint-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    fmt::print(stderr, "import_bench: cannot make a folder {}\n", folder);
    return 1;
  }
  const std::string path = folder + "/trace.json";
  TraceWriter(path, megabytes * kMB).write();
  const Bytes size = static_cast<double>(std::filesystem::file_size(path)) * kByte;
  fmt::print("\nReading a trace of {:.0f} MB\n{:<44}{:>10}{:>12}{:>14}\n", size.in(kMB), "reader",
             "seconds", "MB/s", "peak MB");
  read_ours(path, size);
  read_python(path, size);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace stint

int main(int argc, char** argv) {
  const auto megabytes = argc > 1 ? stint::parse_int(argv[1]) : stint::kMegabytes;
  if (!megabytes || *megabytes < 1) {
    fmt::print(stderr, "usage: import_bench [MEGABYTES]\n");
    return 2;
  }
  return stint::run(*megabytes);
}
