#include "load/predict_inputs.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/terminal.h"
#include "base/text.h"
#include "load/bundled.h"
#include "load/catalog_cases.h"
#include "load/job_files.h"
#include "load/model_files.h"
#include "load/sharded_laws.h"

namespace stint {
namespace {

constexpr const char* kDefaultCalibration = "aws-tcp";
constexpr const char* kPriors = "priors";

const BundledFile* shipped(std::span<const BundledFile> files, std::string_view name) {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const BundledFile& file) { return name_of(file) == name; });
  return found == files.end() ? nullptr : &*found;
}

/// The text of a file or of a shipped file, and what to call it in errors.
struct Text {
  std::string bytes;
  std::string source;
};

/// A file wins over a shipped one of the same name, so that nobody is surprised by a name we add.
Result<Text> text_of(const std::string& name, std::span<const BundledFile> files,
                     std::string_view what) {
  std::error_code ignored;
  const bool file_there = std::filesystem::is_regular_file(name, ignored);
  const BundledFile* found = file_there ? nullptr : shipped(files, name);
  if (found != nullptr) return Text{std::string(found->bytes), found->path};
  auto bytes = read_file(name);
  if (bytes.ok()) return Text{std::move(*bytes), name};
  const bool plain = name.find('/') == std::string::npos && !name.ends_with(".json");
  if (!plain || std::filesystem::exists(name, ignored)) return bytes.error();
  std::vector<std::string> names;
  for (const BundledFile& file : files) names.emplace_back(name_of(file));
  return bad_input(fmt::format("there is no file and no shipped {} '{}'; shipped are {}", what,
                               printable(name), join(names, ", ")));
}

template <class T>
T taken(Loaded<T>& loaded, std::vector<std::string>& warnings) {
  std::move(loaded.warnings.begin(), loaded.warnings.end(), std::back_inserter(warnings));
  return std::move(loaded.noun);
}

/// The bytes of standard input, to be read once.
Result<std::string> standard_input() {
  if (terminal_of(stdin).interactive) {
    return bad_usage(
        "the profile is to come from standard input, which is a terminal; pipe it in, or give the "
        "path of a file");
  }
  auto bytes = read_file("/dev/stdin");
  if (!bytes.ok()) return bytes.error();
  if (trim(*bytes).empty()) {
    return bad_input("standard input is empty; pipe a profile into it, or give the path of a file");
  }
  return bytes;
}

Status load_laws(const std::string& name, PredictInputs& inputs) {
  auto calibration = load_calibration(name);
  if (!calibration.ok()) return calibration.error();
  auto law = calibrated_law(calibration->noun);
  if (!law.ok()) return law.error();
  inputs.law = std::move(*law);
  inputs.law.networks = shipped_networks();
  inputs.calibration = {.name = calibration->noun.name, .date = calibration->noun.date};
  const auto& accuracy = calibration->noun.accuracy;
  if (!accuracy.empty()) inputs.calibration.error = accuracy.back();
  // A calibration may bring constants for devices of its own, or some of them.
  const auto shipped_devices = load_calibration("devices");
  if (!shipped_devices.ok()) return shipped_devices.error();
  const auto usual = device_law(shipped_devices->noun);
  if (!usual.ok()) return usual.error();
  const auto own = device_law(taken(*calibration, inputs.warnings));
  inputs.devices = own.ok() ? *own : *usual;
  if (!inputs.devices.fixed_share) inputs.devices.fixed_share = usual->fixed_share;
  const auto shipped_model = load_calibration("device-model");
  if (!shipped_model.ok()) return shipped_model.error();
  const auto model = device_model(shipped_model->noun);
  if (!model.ok()) return model.error();
  inputs.devices.model = *model;
  const auto shipped_work = load_calibration("work-model");
  if (!shipped_work.ok()) return shipped_work.error();
  const auto work = work_model(shipped_work->noun);
  if (!work.ok()) return work.error();
  inputs.devices.work = *work;
  // The work model takes the rates of accelerators from the device model.
  inputs.devices.work_measured = measured_models(shipped_work->noun);
  for (std::string& it : measured_models(shipped_model->noun)) {
    inputs.devices.work_measured.push_back(std::move(it));
  }
  add_predicted_times(inputs.job, inputs.catalog, inputs.devices.model, inputs.devices.work);
  return {};
}

/// What is known before any law of its networks and devices.
Result<PredictInputs> job_and_catalog(const Environment& environment, const std::string& name,
                                      Loaded<JobProfile>& job) {
  PredictInputs inputs;
  inputs.job = taken(job, inputs.warnings);
  auto sharded = load_sharded_model(name, inputs.job);
  if (!sharded.ok()) return sharded.error();
  inputs.sharded = std::move(*sharded);
  auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  inputs.catalog = taken(*catalog, inputs.warnings);
  if (environment.clock != nullptr) inputs.today = date_at(environment.clock->now());
  return inputs;
}

Result<PredictInputs> with_laws(PredictInputs inputs, const std::string& calibration,
                                const std::string& provider) {
  const auto& types = inputs.catalog.types;
  inputs.provider = to_lower(provider);
  const bool known = std::any_of(types.begin(), types.end(), [&](const VmType& type) {
    return type.provider == inputs.provider;
  });
  const bool own = known && shipped(bundled_calibrations(), inputs.provider) != nullptr;
  const Status laws = load_laws(calibration.empty() && own ? inputs.provider : calibration, inputs);
  if (!laws.ok()) return laws.error();
  return inputs;
}

Result<PredictInputs> for_cluster(Result<PredictInputs> inputs, const std::string& calibration,
                                  const Cluster& cluster) {
  if (!inputs.ok()) return inputs.error();
  const auto type = find_type(inputs->catalog, cluster.groups.front().vm);
  const std::string provider = type.ok() ? (*type)->provider : "";
  return with_laws(std::move(*inputs), calibration, provider);
}

}  // namespace

Result<Loaded<JobProfile>> load_job(const std::string& name) {
  if (name == kStandardInput) {
    const auto bytes = standard_input();
    if (!bytes.ok()) return bytes.error();
    return read_job(*bytes, "standard input");
  }
  if (names_model(name)) {
    auto job = load_model_job(name);
    if (!job.ok()) return job.error();
    return Loaded<JobProfile>{std::move(*job), {}};
  }
  const auto text = text_of(name, bundled_jobs(), "job");
  if (!text.ok()) return text.error();
  return read_job(text->bytes, text->source);
}

std::optional<std::string> profile_path(const std::string& job) {
  if (names_model(job)) return job;
  std::error_code error;
  if (!std::filesystem::is_regular_file(job, error)) return std::nullopt;
  const std::filesystem::path path = std::filesystem::absolute(job, error);
  return error ? std::nullopt : std::optional(path.string());
}

Result<Loaded<Calibration>> load_calibration(const std::string& name) {
  std::string wanted = name;
  if (wanted.empty()) {
    const auto files = bundled_calibrations();
    wanted = shipped(files, kDefaultCalibration) != nullptr ? kDefaultCalibration : kPriors;
  }
  const auto text = text_of(wanted, bundled_calibrations(), "calibration");
  if (!text.ok()) return text.error();
  return read_calibration(text->bytes, text->source);
}

Result<SpotPrior> load_spot_prior() {
  const auto calibration = load_calibration("spot");
  if (!calibration.ok()) return calibration.error();
  return read_spot_prior(calibration->noun);
}

Result<PriceLaw> load_price_law() {
  const auto calibration = load_calibration("spot-prices");
  if (!calibration.ok()) return calibration.error();
  return read_price_law(calibration->noun);
}

Result<PredictInputs> load_predict_inputs(const Environment& environment, const std::string& job,
                                          const std::string& calibration,
                                          const std::string& provider) {
  auto profile = load_job(job);
  if (!profile.ok()) return profile.error();
  auto inputs = job_and_catalog(environment, job, *profile);
  if (!inputs.ok()) return inputs.error();
  return with_laws(std::move(*inputs), calibration, provider);
}

Result<PredictInputs> load_predict_inputs(const Environment& environment, const std::string& job,
                                          const std::string& calibration, const Cluster& cluster) {
  auto profile = load_job(job);
  if (!profile.ok()) return profile.error();
  return for_cluster(job_and_catalog(environment, job, *profile), calibration, cluster);
}

Result<PredictInputs> load_predict_inputs(const Environment& environment, Loaded<JobProfile> job,
                                          const std::string& calibration, const Cluster& cluster) {
  return for_cluster(job_and_catalog(environment, "", job), calibration, cluster);
}

}  // namespace stint
