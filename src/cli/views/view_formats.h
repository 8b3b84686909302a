#pragma once

#include <span>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace stint::cli {

/// A type-erased view.
struct ViewFormat {
  const char* name;       // docs/formats has it as "stint.NAME.VERSION.schema.json".
  const char* schema;     // Its mark.
  Json (*json_schema)();  // The JSON Schema of the whole document.
  Result<std::string> (*rewrite)(const std::string& text);  // Reads a document and writes it back.
};

/// All views, sorted by name.
std::span<const ViewFormat> view_formats();

}  // namespace stint::cli
