#include "load/sharded_laws.h"

#include <algorithm>

#include "load/bundled.h"
#include "load/model_files.h"
#include "load/predict_inputs.h"

namespace stint {
namespace {

constexpr const char* kStepCalibration = "sharded";
constexpr const char* kMemoryCalibration = "sharded-memory";

bool is_shipped(std::string_view name) {
  const auto files = bundled_calibrations();
  return std::any_of(files.begin(), files.end(),
                     [&](const BundledFile& file) { return name_of(file) == name; });
}

const Constant* find(const Calibration& calibration, std::string_view name) {
  const auto found = std::find_if(calibration.constants.begin(), calibration.constants.end(),
                                  [&](const Constant& it) { return it.name == name; });
  return found == calibration.constants.end() ? nullptr : &*found;
}

Status take_step(ShardedLaws& laws) {
  if (!is_shipped(kStepCalibration)) return {};
  const auto calibration = load_calibration(kStepCalibration);
  if (!calibration.ok()) return calibration.error();
  const auto law = sharded_law(calibration->noun);
  if (!law.ok()) return law.error();
  laws.step = *law;
  laws.fitted = true;
  const Constant* spread = find(calibration->noun, kShardedSpread);
  if (spread != nullptr && spread->value > 0) laws.spread = spread->value;
  return {};
}

Status take_memory(ShardedLaws& laws) {
  if (!is_shipped(kMemoryCalibration)) return {};
  const auto calibration = load_calibration(kMemoryCalibration);
  if (!calibration.ok()) return calibration.error();
  const auto law = sharded_memory_law(calibration->noun);
  if (!law.ok()) return law.error();
  laws.memory = *law;
  return {};
}

/// The transformer that the job trains; null where it is none, or not known.
std::optional<ModelShape> shape_of(const std::string& name, const JobProfile& job) {
  if (names_model(name)) {
    const auto training = parse_training(name);
    const auto model = training.ok() ? load_model(training->model) : training.error();
    return model.ok() ? model->shape : std::nullopt;
  }
  const auto known = find_model(known_models(), job.work->model);
  return known.ok() ? (*known)->shape : std::nullopt;
}

}  // namespace

Result<ShardedLaws> load_sharded_laws() {
  ShardedLaws laws;
  for (const Status& status : {take_step(laws), take_memory(laws)}) {
    if (!status.ok()) return status.error();
  }
  return laws;
}

Result<std::optional<ShardedModel>> load_sharded_model(const std::string& name,
                                                       const JobProfile& job) {
  if (!job.work || !job.compute.empty()) return std::optional<ShardedModel>();
  const auto shape = shape_of(name, job);
  if (!shape) return std::optional<ShardedModel>();
  const auto laws = load_sharded_laws();
  if (!laws.ok()) return laws.error();
  return std::optional(sharded_model(*shape, job, *laws));
}

}  // namespace stint
