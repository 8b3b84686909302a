#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/views/view.h"

namespace stint::cli {

/// One model of `stint models list` or `show`.
struct ModelView {
  std::string name;
  std::string family;
  std::vector<std::string> aliases;
  double parameters = 0;
  std::optional<double> published_parameters;
  std::optional<double> multiply_adds;
  std::optional<double> activations;
  std::optional<std::int64_t> positions;
  std::optional<std::string> data;
  std::optional<double> epochs;
  std::string source;
  std::optional<Date> date;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, ModelView>& it) {
  walk.field("name", it.name, "Name of the model.");
  walk.field("family", it.family, "Family or architecture.");
  walk.field("aliases", it.aliases, "Other names.");
  walk.field("parameters", it.parameters, "Parameters, counted from the shape.", kCount);
  walk.field("published_parameters", it.published_parameters, "Parameters as published.", kCount);
  walk.field("multiply_adds", it.multiply_adds, "Of a forward pass over one image.", kCount);
  walk.field("activations", it.activations, "Outputs of the convolutions of one image.", kCount);
  walk.field("positions", it.positions, "Longest sequence.", kCount);
  walk.field("data", it.data, "Customary data set.");
  walk.field("epochs", it.epochs, "Customary passes over it.", kCount);
  walk.field("source", it.source, "Source of the facts.");
  walk.field("date", it.date, "Date of the source.");
}

struct ModelsView {
  static constexpr const char* kSchema = "stint.models/1";
  static constexpr const char* kTitle = "Models that are known by name";
  std::vector<ModelView> models;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, ModelsView>& it) {
  walk.field("models", it.models, "The models.", kList);
}

}  // namespace stint::cli
