#include "plan/plan_validation.h"

namespace stint {

Result<Loaded<PlanValidation>> read_plan_validation(std::string_view text,
                                                    const std::string& source) {
  return read_document<PlanValidation>(text, kValidationSchema, source);
}

std::string write_plan_validation(const PlanValidation& validation) {
  return write_document(validation, kValidationSchema);
}

Status validate(const PlanValidation& validation) {
  return check_fields(validation, "plan validation");
}

Json plan_validation_schema() {
  return schema_document(kValidationSchema, "How well plans did under deadlines",
                         SchemaWalk::schema_of<PlanValidation>());
}

}  // namespace stint
