#include "app/local/doctor_training.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

#include "base/file.h"
#include "base/run_command.h"
#include "base/temporary_folder.h"
#include "base/text.h"

namespace stint {
namespace {

namespace fs = std::filesystem;
using Verdict = Finding::Level;

constexpr Seconds kImport = 60 * kSecond;  // Of torch, from a slow disk.
constexpr Seconds kAnswer = 10 * kSecond;  // Of nvidia-smi, which waits for drivers that hang.

// Other lines may be warnings of what is imported.
constexpr const char* kLook =
    "import platform\n"
    "print('stint-python', platform.python_version())\n"
    "try:\n"
    "    import torch\n"
    "    cuda = getattr(torch.version, 'cuda', None)\n"
    "    print('stint-torch', torch.__version__, 'with CUDA ' + cuda if cuda else 'without CUDA')\n"
    "except BaseException as error:\n"
    "    print('stint-error', type(error).__name__ + ':', (str(error).splitlines() or [''])[0])\n";

/// What a program prints; nothing where it cannot be started or fails.
std::optional<std::string> output_of(const Words& words, Seconds limit) {
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return std::nullopt;
  const std::string file = folder->path() + "/output";
  const std::array commands = {Command{.words = words}};
  const auto end = run_together(commands, limit, file);
  if (!end.ok() || end->code != 0) return std::nullopt;
  const auto text = read_file(file);
  return text.ok() ? std::optional(*text) : std::nullopt;
}

/// The rest of the line that begins with `mark` and a space.
std::optional<std::string> after(const std::string& text, std::string_view mark) {
  for (const std::string& line : split(text, '\n')) {
    if (!line.starts_with(mark)) continue;
    return std::string(trim(std::string_view(line).substr(mark.size())));
  }
  return std::nullopt;
}

std::optional<std::string> first_on(const std::string& path, const std::string& program) {
  for (const std::string& folder : split(path, ':')) {
    std::string file = folder + "/" + program;
    if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return std::nullopt;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(a, b, error);
}

/// One interpreter; `torch` is set where it imports torch.
Finding examine_python(const std::string& interpreter, bool& torch) {
  constexpr const char* kFeature = "python";
  const auto said = output_of({interpreter, "-c", kLook}, kImport);
  const auto version = said ? after(*said, "stint-python ") : std::nullopt;
  if (!version) {
    return {Verdict::kGood, kFeature, fmt::format("{} does not run", interpreter), ""};
  }
  std::string detail = fmt::format("{}: Python {}", interpreter, *version);
  if (const auto found = after(*said, "stint-torch ")) {
    torch = true;
    detail += ", torch " + *found;
  } else {
    detail += fmt::format(", torch cannot be imported ({})",
                          after(*said, "stint-error ").value_or("no reason given"));
  }
  return {Verdict::kGood, kFeature, harmless(detail), ""};
}

std::vector<Finding> examine_pythons(const TrainingPlaces& places) {
  std::vector<std::string> interpreters;
  if (::access(places.python.c_str(), X_OK) == 0) interpreters.push_back(places.python);
  const auto first = first_on(places.path, "python3");
  if (first && (interpreters.empty() || !same_file(*first, interpreters[0]))) {
    interpreters.push_back(*first);
  }
  if (interpreters.empty()) {
    return {{Verdict::kAdvice, "python", "no python3 found, which training scripts need",
             "sudo apt-get install python3 python3-torch"}};
  }
  std::vector<Finding> findings;
  bool torch = false;
  for (const std::string& one : interpreters) findings.push_back(examine_python(one, torch));
  if (torch) return findings;
  findings.back().level = Verdict::kAdvice;
  findings.back().fix = "sudo apt-get install python3-torch";
  return findings;
}

/// The device files of accelerators: /dev/nvidia0 and so on.
std::vector<std::string> device_files(const std::string& root) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(root + "/dev", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool numbered = name.size() > 6 && name.starts_with("nvidia") && is_digit(name[6]);
    if (numbered) names.push_back("/dev/" + name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Finding> examine_gpus(const TrainingPlaces& places) {
  constexpr const char* kFeature = "gpu";
  std::vector<Finding> findings;
  const auto tool = first_on(places.path, "nvidia-smi");
  const auto listed = tool ? output_of({*tool, "--query-gpu=name,memory.total,driver_version",
                                        "--format=csv,noheader"},
                                       kAnswer)
                           : std::nullopt;
  for (const std::string& line : listed ? split(*listed, '\n') : std::vector<std::string>()) {
    const std::vector<std::string> facts = split(line, ',');
    if (facts.size() != 3) continue;
    findings.push_back({Verdict::kGood, kFeature,
                        harmless(fmt::format("{}, {}, driver {}", facts[0], facts[1], facts[2])),
                        ""});
  }
  if (!findings.empty()) return findings;
  const std::vector<std::string> devices = device_files(places.root);
  const auto driver = read_file(places.root + "/proc/driver/nvidia/version");
  if (!driver.ok() && devices.empty()) {
    return {{Verdict::kGood, kFeature,
             "no NVIDIA GPU or driver found; plans and emulated runs need none", ""}};
  }
  const std::string version =
      driver.ok() ? harmless(split(*driver, '\n')[0]) : "no driver is loaded";
  return {{Verdict::kGood, kFeature,
           fmt::format("{}; {}; {}", devices.empty() ? "no device files" : join(devices, ", "),
                       version, tool ? "nvidia-smi fails" : "no nvidia-smi"),
           ""}};
}

}  // namespace

TrainingPlaces training_places() {
  const char* path = std::getenv("PATH");
  return {.path = path == nullptr ? "" : path};
}

std::vector<Finding> examine_training(const TrainingPlaces& places) {
  std::vector<Finding> findings = examine_pythons(places);
  for (Finding& finding : examine_gpus(places)) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace stint
