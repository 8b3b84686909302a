#include "run/worker_environment.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>

#include "base/text.h"

namespace stint {
namespace {

constexpr std::string_view kUsual[] = {
    // Of every program.
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM",
    "COLUMNS", "LINES", "LD_LIBRARY_PATH", "LD_PRELOAD",
    // Certificates of the machines that data come from.
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    // Python's environments.
    "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_EXE", "CONDA_PYTHON_EXE",
    "CONDA_SHLVL",
    // Not a secret, whatever its name suggests.
    "TOKENIZERS_PARALLELISM",
    // Tools that look into a process.
    "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE",
    "GCOV_PREFIX", "GCOV_PREFIX_STRIP"};

constexpr std::string_view kUsualPrefixes[] = {
    "LC_",     "XDG_",    "PYTHON",    "STINT_",   "TORCH",   "PYTORCH_", "CUDA_",         "CUDNN_",
    "CUBLAS_", "NVIDIA_", "NCCL_",     "GLOO_",    "UCX_",    "FI_",      "OMP_",          "KMP_",
    "GOMP_",   "MKL_",    "OPENBLAS_", "NUMEXPR_", "MALLOC_", "HF_",      "TRANSFORMERS_", "HSA_",
    "HIP_",    "ROCM_",   "RCCL_",     "ONEDNN_",  "DNNL_"};

// Parts of names of secrets: HF_TOKEN, TORCH_API_KEY.
constexpr std::string_view kSecretParts[] = {"TOKEN",  "SECRET",     "PASSW",
                                             "APIKEY", "CREDENTIAL", "_KEY"};

constexpr std::string_view kOfShells[] = {"PWD", "OLDPWD", "SHLVL", "_"};

// Set for each worker; see rank_variables.
constexpr std::string_view kOurs[] = {"MASTER_ADDR",
                                      "MASTER_PORT",
                                      "RANK",
                                      "LOCAL_RANK",
                                      "WORLD_SIZE",
                                      "NODE_RANK",
                                      "LOCAL_WORLD_SIZE",
                                      "GROUP_RANK",
                                      "GROUP_WORLD_SIZE",
                                      "ROLE_RANK",
                                      "ROLE_NAME",
                                      "ROLE_WORLD_SIZE",
                                      "GLOO_SOCKET_IFNAME",
                                      "TORCHELASTIC_RESTART_COUNT"};

template <class Names>
bool among(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_name(std::string_view text) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
  return !text.empty() && !is_digit(text[0]) &&
         text.find_first_not_of(kLetters) == std::string_view::npos;
}

std::string_view name_of(std::string_view added) { return added.substr(0, added.find('=')); }

Status check(std::string_view name) {
  if (!is_name(name)) {
    return bad_usage(
        fmt::format("--env must be NAME, NAME,NAME or NAME=VALUE, not '{}'", printable(name)));
  }
  if (!among(kOurs, name) && !name.starts_with("STINT_")) return {};
  return bad_usage(fmt::format("--env cannot change {}: stint sets it for each worker", name));
}

}  // namespace

bool is_usual_variable(std::string_view name) {
  if (among(kUsual, name)) return true;
  const bool secret =
      std::any_of(std::begin(kSecretParts), std::end(kSecretParts),
                  [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
  return !secret && std::any_of(std::begin(kUsualPrefixes), std::end(kUsualPrefixes),
                                [&](std::string_view it) { return name.starts_with(it); });
}

bool is_machine_variable(std::string_view name) {
  return is_usual_variable(name) || name.starts_with("STINT_") ||
         name == "AWS_EC2_METADATA_SERVICE_ENDPOINT";
}

Result<std::vector<std::string>> parse_worker_variables(const std::vector<std::string>& given) {
  std::vector<std::string> added;
  for (const std::string& text : given) {
    // A value may hold commas.
    const bool assigns = text.find('=') < text.find(',');
    for (std::string& one : assigns ? std::vector{text} : split(text, ',')) {
      const Status valid = check(name_of(one));
      if (!valid.ok()) return valid.error();
      std::erase_if(added, [&](const std::string& it) { return name_of(it) == name_of(one); });
      added.push_back(std::move(one));
    }
  }
  return added;
}

bool is_passed_on(std::string_view name, const std::vector<std::string>& added) {
  return is_usual_variable(name) || among(added, name);
}

std::vector<std::string> own_values(const std::vector<std::string>& added) {
  std::vector<std::string> values;
  for (const std::string& name : added) {
    const char* value = name.find('=') == std::string::npos ? std::getenv(name.c_str()) : nullptr;
    if (value != nullptr) values.push_back(fmt::format("{}={}", name, value));
  }
  return values;
}

std::vector<std::string> given_values(const std::vector<std::string>& added) {
  std::vector<std::string> values;
  for (const std::string& one : added) {
    if (one.find('=') != std::string::npos) values.push_back(one);
  }
  return values;
}

std::optional<std::string> missing_variable(const std::vector<std::string>& added,
                                            const std::vector<std::string>& names) {
  for (const std::string& one : added) {
    if (one.find('=') == std::string::npos && !among(names, one)) return one;
  }
  return std::nullopt;
}

int withheld_variables(const std::vector<std::string>& added,
                       const std::vector<std::string>& names) {
  return static_cast<int>(std::count_if(names.begin(), names.end(), [&](const std::string& name) {
    const bool replaced = std::any_of(added.begin(), added.end(),
                                      [&](const std::string& it) { return name_of(it) == name; });
    return !replaced && !is_passed_on(name, added) && !among(kOfShells, name);
  }));
}

}  // namespace stint
