#include "load/model_files.h"

#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "load/bundled.h"
#include "load/image_input.h"

namespace stint {
namespace {

std::vector<KnownModel> read_bundled() {
  std::vector<KnownModel> all;
  for (const BundledFile& file : bundled_models()) {
    auto models = read_models(file.bytes, file.path);
    CHECK(models.ok());
    std::move(models->begin(), models->end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

const std::vector<KnownModel>& known_models() {
  static const std::vector<KnownModel> kModels = read_bundled();
  return kModels;
}

Result<KnownModel> load_model(const std::string& name) {
  std::error_code ignored;
  const bool is_path = name.ends_with(".json") || std::filesystem::is_regular_file(name, ignored);
  if (is_path) {
    const auto text = read_file(name);
    if (!text.ok()) return text.error();
    return model_of_config(*text, name);
  }
  const auto known = find_model(known_models(), name);
  if (!known.ok()) return known.error();
  return **known;
}

Result<JobProfile> load_model_job(const std::string& text) {
  const auto training = parse_training(text);
  if (!training.ok()) return training.error();
  const auto model = load_model(training->model);
  if (!model.ok()) return model.error();
  return model_job(*model, *training, image_input());
}

}  // namespace stint
