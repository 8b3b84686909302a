#pragma once

#include <string>

#include "base/terminal.h"
#include "validate/validate_cases.h"

namespace stint::cli {

/// A line for each case: published and predicted figure, interval, ratio of speeds, source.
std::string case_table(const CaseReport& report, const Terminal& terminal);

/// A line for each group: how many cases are close and inside, median ratios.
std::string case_group_table(const CaseReport& report, const Terminal& terminal);

/// All cases with all columns.
std::string case_csv(const CaseReport& report);

}  // namespace stint::cli
