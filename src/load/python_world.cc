#include "load/python_world.h"

#include <array>
#include <fmt/format.h>
#include <string_view>

#include "base/file.h"
#include "base/run_command.h"
#include "base/text.h"
#include "load/bundled.h"

namespace stint {
namespace {

constexpr Seconds kLookTime = 60 * kSecond;  // An interpreter on a slow disk may take long.

/// Nothing if the interpreter cannot be started.
std::optional<bool> finds_torch(const std::string& interpreter) {
  const Command look{.words = {interpreter, "-c",
                               "import importlib.util, sys\n"
                               "sys.exit(0 if importlib.util.find_spec('torch') else 3)"}};
  const std::array commands = {look};
  const auto end = run_together(commands, kLookTime, "/dev/null");
  if (!end.ok()) return std::nullopt;
  return end->code == 0;
}

/// An interpreter that finds torch, or empty.
std::string other_interpreter(const std::string& than) {
  for (const char* one : {"/usr/bin/python3", "python3", "python", "/usr/local/bin/python3",
                          "/opt/conda/bin/python3"}) {
    if (one != than && finds_torch(one).value_or(false)) return one;
  }
  return "";
}

}  // namespace

Status unpack_python(const std::string& folder) {
  constexpr std::string_view kPrefix = "python/";
  for (const BundledFile& file : bundled_python()) {
    const std::string_view name = std::string_view(file.path).substr(kPrefix.size());
    const Status written = write_file(fmt::format("{}/{}", folder, name), file.bytes);
    if (!written.ok()) return written;
  }
  return {};
}

std::string python_path(const std::string& folder, const std::string& users) {
  return fmt::format("{0}/stint_site:{0}{1}{2}", folder, users.empty() ? "" : ":", users);
}

bool is_python(const std::string& program) {
  std::string_view name = program;
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0.
  if (name.starts_with("pypy")) name.remove_prefix(4);
  if (name.starts_with("python")) name.remove_prefix(6);
  const bool prefixed = name.size() < program.size() - (program.rfind('/') + 1);
  return prefixed && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool seems_to_use_job(const std::vector<std::string>& command, const std::string& folder) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word == "-m" && i + 1 < command.size()) return command[i + 1] == "stint.demo";
    if (!word.ends_with(".py")) continue;
    const auto text = read_file(word.starts_with('/') ? word : folder + "/" + word);
    if (!text.ok()) continue;
    for (const char* use : {"stint.job(", "stint.Job(", "stint import job", "stint import Job"}) {
      if (text->find(use) != std::string::npos) return true;
    }
  }
  return false;
}

Status check_torch(const std::string& interpreter) {
  const auto found = finds_torch(interpreter);
  if (found.value_or(false)) return {};
  const std::string other = other_interpreter(interpreter);
  const std::string advice =
      other.empty() ? "install PyTorch: apt install python3-torch, then use /usr/bin/python3"
                    : fmt::format("{} has it", other);
  return Error{ErrorKind::kUnavailable,
               found ? fmt::format("{} has no torch; {}", printable(interpreter), advice)
                     : fmt::format("cannot start {}; {}", printable(interpreter),
                                   other.empty() ? advice : fmt::format("use {}", other))};
}

}  // namespace stint
