#pragma once

#include <span>
#include <vector>

namespace stint {

/// Expected largest of `count` independent draws from the values seen.
///
///   E max = Σ x_(i) [(i/m)ⁿ − ((i − 1)/m)ⁿ],  x sorted, m values, n draws
///
/// This is ∫ x dFⁿ(x) for the empirical F. Requires at least one value and count ≥ 1.
double expected_max(std::span<const double> values, int count);

/// Expected largest of `count` independent standard normal draws, ∫ x dΦ(x)ⁿ: 0 for one, 0.5642 for
/// two, growing like √(2 ln n). For a spread that is known only by its deviation.
/// Requires count ≥ 1.
double expected_max_of_normals(int count);

/// The same for 1, 2, … count_max draws, for little more than the price of one.
std::vector<double> expected_maxes_of_normals(int count_max);

}  // namespace stint
