#include "models/known_model.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "base/text.h"
#include "models/model_config.h"

namespace stint {
namespace {

std::string text_of(const Json& json, std::string_view key) {
  const Json* found = json.find(key);
  const auto* text = found == nullptr ? nullptr : found->as<std::string>();
  return text == nullptr ? "" : *text;
}

double number_of(const Json& json, std::string_view key, double absent) {
  const Json* found = json.find(key);
  if (found == nullptr) return absent;
  if (const auto* whole = found->as<std::int64_t>()) return static_cast<double>(*whole);
  if (const auto* real = found->as<double>()) return *real;
  return absent;
}

ImageFacts image_facts(const Json& json) {
  return {.parameters = number_of(json, "parameters", 0),
          .head_parameters = number_of(json, "head_parameters", 0),
          .multiply_adds = number_of(json, "multiply_adds", 0),
          .activations = number_of(json, "activations", 0),
          .convolutions = number_of(json, "convolutions", 50),
          .maps_kept = number_of(json, "maps_kept", 2),
          .side = number_of(json, "side", 224)};
}

CustomaryGoal customary_goal(const Json& json) {
  CustomaryGoal goal{.data = text_of(json, "data"),
                     .samples = number_of(json, "samples", 0),
                     .epochs = number_of(json, "epochs", 1),
                     .batch = static_cast<int>(number_of(json, "batch", 0)),
                     .evaluation_samples = number_of(json, "evaluation_samples", 0)};
  if (const double sequence = number_of(json, "sequence", 0); sequence > 0) {
    goal.sequence = static_cast<std::int64_t>(sequence);
  }
  return goal;
}

Result<KnownModel> read_row(const Json& json, const std::string& source) {
  KnownModel model{.name = text_of(json, "name"),
                   .family = text_of(json, "family"),
                   .source = text_of(json, "source"),
                   .published_parameters = number_of(json, "parameters", 0),
                   .method = text_of(json, "method"),
                   .note = text_of(json, "note")};
  const std::string place = fmt::format("{}: model {}", source, model.name);
  const auto date = parse_date(text_of(json, "date"));
  if (!date.ok()) return bad_input(fmt::format("{}: {}", place, date.error().message));
  model.date = *date;
  const bool named = !model.name.empty() && !model.source.empty();
  if (!named) return bad_input(fmt::format("{}: name and source are required", place));
  if (const Json* aliases = json.find("aliases")) {
    const auto* list = aliases->as<Json::Array>();
    for (const Json& it : list == nullptr ? Json::Array{} : *list) {
      if (const auto* text = it.as<std::string>()) model.aliases.push_back(*text);
    }
  }
  if (const Json* goal = json.find("goal")) model.goal = customary_goal(*goal);
  if (const Json* image = json.find("image")) model.image = image_facts(*image);
  const Json* config = json.find("config");
  if (config != nullptr) {
    const auto shape = read_model_config(*config, place);
    if (!shape.ok()) return shape.error();
    model.shape = *shape;
  }
  if (!model.shape && !model.image) {
    return bad_input(fmt::format("{}: config or image is required", place));
  }
  return model;
}

/// A name without what people write differently.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : to_lower(name)) {
    if (c != '-' && c != '_' && c != ' ') plain += c;
  }
  return plain;
}

}  // namespace

double parameters(const KnownModel& model) {
  if (model.shape) return parameters(*model.shape).total;
  return model.image->parameters;
}

Result<std::vector<KnownModel>> read_models(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json.ok()) return json.error();
  const Json* rows = json->find("models");
  const auto* list = rows == nullptr ? nullptr : rows->as<Json::Array>();
  if (list == nullptr) return bad_input(fmt::format("{}: a list of models is required", source));
  std::vector<KnownModel> models;
  for (const Json& it : *list) {
    auto model = read_row(it, source);
    if (!model.ok()) return model.error();
    models.push_back(std::move(*model));
  }
  return models;
}

Result<const KnownModel*> find_model(const std::vector<KnownModel>& models, std::string_view name) {
  const std::string wanted = plain_name(name);
  std::vector<std::string> names;
  for (const KnownModel& it : models) {
    if (plain_name(it.name) == wanted) return &it;
    for (const std::string& alias : it.aliases) {
      if (plain_name(alias) == wanted) return &it;
    }
    names.push_back(it.name);
  }
  constexpr std::size_t kNear = 3;
  return bad_usage(fmt::format(
      "there is no known model '{}'.{} See 'stint models list', or give the path of a config.json",
      printable(name), did_you_mean(nearest_names(name, names, kNear))));
}

Result<KnownModel> model_of_config(std::string_view text, const std::string& path) {
  const auto json = parse_json(text, path);
  if (!json.ok()) return json.error();
  const auto shape = read_model_config(*json, path);
  if (!shape.ok()) return shape.error();
  const std::filesystem::path file(path);
  std::string name = file.stem().string();
  if (name == "config" && file.has_parent_path()) name = file.parent_path().filename().string();
  return KnownModel{.name = name,
                    .family = text_of(*json, "model_type"),
                    .source = path,
                    .published_parameters = 0,
                    .shape = *shape};
}

}  // namespace stint
