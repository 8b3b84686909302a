#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// A step of an image model on one GPU, as pytorch-image-models publishes them.
struct TimmRow {
  std::string model;
  std::string gpu;
  std::string precision;  // "amp".
  std::string layout;     // "nchw" or "nhwc".
  std::string torch;      // Version as the table spells it.
  std::string mode;       // "train", "eager" or "compiled"; the last two are inference.
  double image_size = 0;  // Pixels of a side.
  double batch = 0;
  double parameters_m = 0;              // Millions.
  std::optional<double> gmacs;          // Of one forward image.
  std::optional<double> activations_m;  // Of one forward image, millions.
  std::optional<Seconds> step;          // Absent: not measured.
};

/// Whether the header is one of these tables.
bool is_timm_table(const Csv& csv);

/// Reads benchmark tables of training (columns gmacs_forward, activations_m_forward) or inference
/// (gmacs, activations_m, mode). step_s and the *_samples_per_s may be missing; a blank step_s is
/// the batch over the rate. Unreadable cells are bad input with line and column.
Result<std::vector<TimmRow>> read_timm_table(const Csv& csv);

/// The leading letters of a model's name, which are its family: "resnet50" is of "resnet".
std::string timm_family(std::string_view model);

}  // namespace stint
