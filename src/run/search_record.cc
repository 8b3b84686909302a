#include "run/search_record.h"

#include <fmt/format.h>

namespace stint {

std::span<const EnumName<SearchMode>> names_of(SearchMode /*type*/) {
  static constexpr EnumName<SearchMode> kNames[] = {
      {SearchMode::kFull, "full"}, {SearchMode::kPartial, "partial"}, {SearchMode::kNone, "none"}};
  return kNames;
}

Result<Loaded<SearchRecord>> read_search(std::string_view text, const std::string& source) {
  return read_document<SearchRecord>(text, kSearchSchema, source);
}

std::string write_search(const SearchRecord& record) {
  return write_document(record, kSearchSchema);
}

Json search_schema() {
  return schema_document(kSearchSchema, "A search for cluster and batch while training",
                         SchemaWalk::schema_of<SearchRecord>());
}

std::string cluster_text(const SearchChoice& choice) {
  if (!choice.workers_per_vm) return choice.cluster;
  return fmt::format("{}, {} workers per VM", choice.cluster, *choice.workers_per_vm);
}

}  // namespace stint
