#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "base/result.h"
#include "models/model_shape.h"

namespace stint {

/// An image model by what one image takes.
struct ImageFacts {
  double parameters = 0;
  double head_parameters = 0;  // Of the classifier; zero: not known.
  double multiply_adds = 0;    // Of a forward pass over one image.
  double activations = 0;      // Outputs of its convolutions.
  double convolutions = 50;    // How many of them it has.
  // Maps that a convolution and its norm keep for the backward pass: the outputs of both. Frozen
  // norms, which detectors have, keep none of their own.
  double maps_kept = 2;
  double side = 224;  // Pixels of the image's side that these are of.
};

/// What a model is customarily trained for.
struct CustomaryGoal {
  std::string data;    // "ImageNet-1k".
  double samples = 0;  // Of a pass over the data.
  double epochs = 1;
  int batch = 0;  // Global; zero: none is customary.
  std::optional<std::int64_t> sequence = {};
  double evaluation_samples = 0;  // After every epoch; zero: none.
};

/// A model that is known by name, with the source of its figures.
struct KnownModel {
  std::string name;
  std::string family;
  std::vector<std::string> aliases;
  std::string source;
  Date date;
  double published_parameters = 0;  // As its publisher counts them.
  std::optional<ModelShape> shape;  // A transformer, or
  std::optional<ImageFacts> image;  // an image model of another kind.
  std::optional<CustomaryGoal> goal;
  std::string method;  // A customary one (MLPerf's LoRA); empty: full.
  std::string note;
};

/// The parameters by the shape, else as published.
double parameters(const KnownModel& model);

/// Reads a file of data/models. Bad input names what is wrong.
Result<std::vector<KnownModel>> read_models(std::string_view text, const std::string& source);

/// The model called `name`, by its name or an alias; case, spaces, '_' and '-' do not matter. An
/// unknown name is a usage error with the nearest ones.
Result<const KnownModel*> find_model(const std::vector<KnownModel>& models, std::string_view name);

/// A model of a config.json, called like the folder or file that it is in.
Result<KnownModel> model_of_config(std::string_view text, const std::string& path);

}  // namespace stint
