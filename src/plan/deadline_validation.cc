#include "plan/deadline_validation.h"

namespace stint {

Result<Loaded<DeadlineValidation>> read_deadline_validation(std::string_view text,
                                                            const std::string& source) {
  return read_document<DeadlineValidation>(text, kValidationSchema, source);
}

std::string write_deadline_validation(const DeadlineValidation& validation) {
  return write_document(validation, kValidationSchema);
}

Status validate(const DeadlineValidation& validation) {
  return check_fields(validation, "deadline validation");
}

Json deadline_validation_schema() {
  return schema_document(kValidationSchema, "How well deadlines were kept, and at what cost",
                         SchemaWalk::schema_of<DeadlineValidation>());
}

}  // namespace stint
