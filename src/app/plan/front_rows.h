#pragma once

#include <vector>

#include "plan/plan.h"

namespace stint {

/// Marks the knee: its note begins with "knee".
void mark_knee(Plan& plan);
bool is_knee(const Plan& plan);

/// The same VMs with the same batch, predicted to take as long.
bool same_plan(const Plan& a, const Plan& b);

/// At most `rows` points of `front` in its order, spread evenly over it; its knee always stays, and
/// the ends when there is room for them. Requires that the knee is marked, and rows >= 1.
std::vector<Plan> front_rows(const std::vector<Plan>& front, int rows);

}  // namespace stint
