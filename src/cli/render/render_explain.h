#pragma once

#include <string>

#include "app/plan/explain_case.h"
#include "base/json.h"
#include "base/terminal.h"

namespace stint::cli {

/// A plan taken apart, for a person: the bill, the time, the layout, the runner-up, and what would
/// change the order.
std::string explanation_sheet(const Explanation& explanation, const Terminal& terminal);

/// The same as JSON, "stint.explanation/1".
Json explanation_json(const Explanation& explanation);

}  // namespace stint::cli
