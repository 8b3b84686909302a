#pragma once

#include <vector>

namespace stint {

/// Expected largest of `count` independent standard normal draws, ∫ x dΦ(x)ⁿ: 0 for one, 0.5642 for
/// two, growing like √(2 ln n). For a spread that is known only by its deviation.
/// Requires count ≥ 1.
double expected_max_of_normals(int count);

/// The same for 1, 2, … count_max draws, for little more than the price of one.
std::vector<double> expected_maxes_of_normals(int count_max);

}  // namespace stint
