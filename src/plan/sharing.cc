#include "plan/sharing.h"

namespace stint {

Result<Loaded<SharingAnswer>> read_sharing(std::string_view text, const std::string& source) {
  return read_document<SharingAnswer>(text, kSharingSchema, source);
}

std::string write_sharing(const SharingAnswer& answer) {
  return write_document(answer, kSharingSchema);
}

Status validate(const SharingAnswer& answer) { return check_fields(answer, "sharing"); }

Json sharing_schema() {
  return schema_document(kSharingSchema, "Which jobs should share machines",
                         SchemaWalk::schema_of<SharingAnswer>());
}

Result<Loaded<TogetherAnswer>> read_together(std::string_view text, const std::string& source) {
  return read_document<TogetherAnswer>(text, kTogetherSchema, source);
}

std::string write_together(const TogetherAnswer& answer) {
  return write_document(answer, kTogetherSchema);
}

Status validate(const TogetherAnswer& answer) { return check_fields(answer, "plans"); }

Json together_schema() {
  return schema_document(kTogetherSchema, "What to rent for several jobs",
                         SchemaWalk::schema_of<TogetherAnswer>());
}

}  // namespace stint
