#pragma once

#include <string>

namespace stint {

/// Empty when `document` (JSON) is valid against `schema` (JSON Schema, draft 7); otherwise why
/// not.
std::string schema_problem(const std::string& schema, const std::string& document);

}  // namespace stint
