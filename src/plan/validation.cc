#include "plan/validation.h"

namespace stint {

Result<Loaded<Validation>> read_validation(std::string_view text, const std::string& source) {
  return read_document<Validation>(text, kValidationSchema, source);
}

std::string write_validation(const Validation& validation) {
  return write_document(validation, kValidationSchema);
}

Status validate(const Validation& validation) { return check_fields(validation, "validation"); }

Json validation_schema() {
  return schema_document(kValidationSchema, "How far predictions were off measurements",
                         SchemaWalk::schema_of<Validation>());
}

}  // namespace stint
