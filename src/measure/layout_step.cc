#include "measure/layout_step.h"

#include "measure/measurement.h"

namespace stint {

Result<std::vector<LayoutStep>> read_layout_steps(std::string_view text,
                                                  const std::string& source) {
  const Status count = check_line_count(text, source);
  if (!count.ok()) return count.error();
  auto read = read_json_lines<LayoutStep>(text, kLayoutStepSchema, source);
  if (!read.ok()) return read.error();
  return std::move(read->noun);
}

Json layout_step_schema() {
  return schema_document(kLayoutStepSchema, "One measured step of a model split over emulated VMs",
                         SchemaWalk::schema_of<LayoutStep>());
}

}  // namespace stint
