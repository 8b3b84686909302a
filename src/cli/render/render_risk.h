#pragma once

#include <string>

#include "app/risk/risk_fit.h"
#include "app/risk/risk_survive.h"
#include "base/json.h"
#include "base/terminal.h"

namespace stint::cli {

/// What files say about a pool: one table for each kind of file.
std::string risk_fit_text(const RiskFitReport& report, const Terminal& terminal);
Json risk_fit_json(const RiskFitReport& report);

/// What becomes of a group of spot machines.
std::string survive_text(const SurviveReport& report, const Terminal& terminal);
Json survive_json(const SurviveReport& report);

}  // namespace stint::cli
