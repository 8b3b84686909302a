#include "plan/search_validation.h"

namespace stint {

Result<Loaded<SearchValidation>> read_search_validation(std::string_view text,
                                                        const std::string& source) {
  return read_document<SearchValidation>(text, kValidationSchema, source);
}

std::string write_search_validation(const SearchValidation& validation) {
  return write_document(validation, kValidationSchema);
}

Status validate(const SearchValidation& validation) {
  return check_fields(validation, "search validation");
}

Json search_validation_schema() {
  return schema_document(kValidationSchema, "How well searches did while training",
                         SchemaWalk::schema_of<SearchValidation>());
}

}  // namespace stint
