#pragma once

#include <string>

#include "app/plan/layout_cases.h"
#include "base/terminal.h"
#include "plan/plan.h"

namespace stint::cli {

/// The layouts of a cluster for a person, fastest first, and what was left out.
std::string layouts_sheet(const LayoutsAnswer& answer, const Terminal& terminal);

/// One layout taken apart: what each axis costs, the memory, and what is not validated.
std::string layout_sheet(const LayoutEstimate& layout, const Terminal& terminal);

/// The parts of an iteration with bars, and the whole with its interval.
std::string layout_parts_text(const LayoutEstimate& layout);

std::string layouts_json(const LayoutsAnswer& answer);
std::string layouts_csv(const LayoutsAnswer& answer);

/// Why no layout fits, and what would, as an error for a person.
std::string layouts_problem(const LayoutsAnswer& answer);

/// How a plan splits the model, what each axis costs, and the runner-up; empty for replicas.
std::string sharding_text(const Plan& plan, const Terminal& terminal);

}  // namespace stint::cli
