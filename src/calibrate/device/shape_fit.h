#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"

namespace stint {

/// What is known of an image model before it runs, and the seconds of one image.
struct ShapeSample {
  double gmacs = 1;          // Of one forward image.
  double activations_m = 1;  // Of one forward image, millions.
  double parameters_m = 1;
  double image_size = 1;  // Pixels of a side.
  double batch = 1;
  double seconds = 1;  // Of one image; not read for a prediction.
};

/// Seconds of an image by arithmetic and by memory.
///
///   t = per_gmac · GMACs + per_activation · activations
struct TwoConstants {
  double per_gmac = 0;
  double per_activation = 0;

  double seconds(const ShapeSample& sample) const;
};

/// The least squares of relative errors; a constant that would be negative is zero. Requires a
/// sample.
TwoConstants fit_two_constants(std::span<const ShapeSample> samples);

/// The number of products of at most two of the five logarithms of a shape: 1, x_i and x_i x_j.
inline constexpr std::size_t kShapeTerms = 21;

/// Seconds of one image by the shape of a model.
///
///   ln t = ln(two constants) + Σ c_k φ_k(x),  x = ln of GMACs, GMACs/activations,
///                                             GMACs/parameters, activations · batch, image size
///
/// where φ are the products of at most two of the x, each centred and scaled. How well a GPU is
/// used depends on the intensity of the arithmetic; the largest batch that fits tells how much
/// memory a model takes beyond what it counts as activations.
class ShapeFit {
 public:
  /// Minimises Σ |t̂/t − 1| + λ Σ c² with reweighted least squares, so that a few models that run
  /// far slower than their shape says do not bend the rest. Bad input with fewer than two samples.
  static Result<ShapeFit> fit(std::span<const ShapeSample> samples);

  double log_seconds(const ShapeSample& sample) const;

  /// The same with other constants under the correction, for another accelerator.
  double log_seconds(const ShapeSample& sample, const TwoConstants& constants) const;

  const TwoConstants& constants() const { return constants_; }

 private:
  static constexpr std::size_t kLogs = 5;
  using Logs = std::array<double, kLogs>;

  static Logs logs_of(const ShapeSample& sample);
  std::array<double, kShapeTerms> terms_of(const ShapeSample& sample) const;

  TwoConstants constants_;
  Logs mean_{};
  Logs deviation_{};
  std::array<double, kShapeTerms> coefficients_{};
};

}  // namespace stint
