#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/result.h"
#include "base/units.h"

namespace stint {

/// Kinds of operators that NeuSight sums over, in the order of NeusightRow::by_kind.
inline constexpr std::array<const char*, 5> kNeusightKinds{"Linear", "BMM", "VEC", "VECln",
                                                           "VECsoftmax"};

/// Models whose predictions are stored with the rows, in the order of NeusightRow::predicted.
inline constexpr std::array<const char*, 4> kNeusightRivals{"neusight", "habitat", "micro",
                                                            "roofline"};

/// A step or a forward pass of a transformer, as published with NeuSight (ASPLOS'25).
struct NeusightRow {
  std::string model;
  std::string gpu;
  bool training = false;
  std::string option;  // Empty: eager on one GPU. "fusion", "dp4", "tp4", "pp4_1".
  double length = 0;
  double batch = 0;  // Of all GPUs.
  int gpus = 1;
  std::optional<Seconds> time;  // Absent: not measured.
  std::optional<Seconds> forward;
  std::array<std::optional<Seconds>, kNeusightKinds.size()> by_kind;
  std::array<std::optional<Seconds>, kNeusightRivals.size()> predicted;
};

/// Figures of an accelerator; FP32.
struct NeusightGpu {
  std::string name;
  bool amd = false;
  std::optional<FlopsPerSecond> peak;  // Of matrix units, where they do FP32.
  std::optional<BytesPerSecond> bandwidth;
  std::optional<int> multiprocessors;
  std::optional<int> lanes;  // FP32 lanes of a multiprocessor.
};

/// The shape of a model; feed_forward is absent where it is four times the hidden size.
struct NeusightModel {
  std::string name;
  std::string type;
  double layers = 0;
  double hidden = 0;
  double heads = 0;
  std::optional<double> feed_forward;
  double vocabulary = 0;
  std::optional<double> experts;
};

/// The kinds of files, told apart by their header.
enum class NeusightFile { kLatency, kGpus, kModels };

/// Nothing when the header is that of no such file.
std::optional<NeusightFile> neusight_file(const Csv& csv);

/// Readers of the three files. Cells that are needed and missing, and cells that cannot be read,
/// are bad input with line and column. Columns of measurements and predictions may be missing.
Result<std::vector<NeusightRow>> read_neusight_rows(const Csv& csv);
Result<std::vector<NeusightGpu>> read_neusight_gpus(const Csv& csv);
Result<std::vector<NeusightModel>> read_neusight_models(const Csv& csv);

}  // namespace stint
