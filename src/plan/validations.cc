#include "plan/validations.h"

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
