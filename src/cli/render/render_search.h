#pragma once

#include <string>

#include "app/run/run_report.h"
#include "app/search/search_setup.h"
#include "base/json.h"
#include "base/terminal.h"

namespace stint::cli {

/// What a search timed, where it went, and what it chose.
std::string search_text(const SearchRecord& search, const Terminal& terminal);

/// What a search is about to do: where it begins, the probes that are foreseen, and their price.
std::string search_outline(const PreparedSearch& search, const Terminal& terminal);

/// One row for each cluster and batch.
std::string surface_csv(const SearchRecord& search);

/// The record with how its run ended.
Json search_json(const RunReport& report, const std::string& shortfall);

/// A map of batch and number of machines for each type of machine, coloured by what the whole
/// training would take or cost there; what was timed has a frame, the choice a dot. SVG and HTML.
std::string search_map(const SearchRecord& search);

}  // namespace stint::cli
