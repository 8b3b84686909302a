#include "plan/interleave_validation.h"

namespace stint {

Result<Loaded<InterleaveValidation>> read_interleave_validation(std::string_view text,
                                                                const std::string& source) {
  return read_document<InterleaveValidation>(text, kValidationSchema, source);
}

std::string write_interleave_validation(const InterleaveValidation& validation) {
  return write_document(validation, kValidationSchema);
}

Status validate(const InterleaveValidation& validation) {
  return check_fields(validation, "interleave validation");
}

Json interleave_validation_schema() {
  return schema_document(kValidationSchema, "What pairing jobs saved",
                         SchemaWalk::schema_of<InterleaveValidation>());
}

}  // namespace stint
