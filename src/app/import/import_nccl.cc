#include "app/import/import_nccl.h"

#include <utility>

#include "base/file.h"

namespace stint {

Result<NcclTable> import_nccl(const NcclImportRequest& request) {
  if (request.files.empty()) return bad_usage("give at least one text of nccl-tests");
  NcclTable all;
  for (const std::string& file : request.files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    auto table = read_nccl_text(*text, file, request.vm);
    if (!table.ok()) return table.error();
    for (NcclRow& row : table->rows) all.rows.push_back(std::move(row));
    for (std::string& note : table->notes) all.notes.push_back(std::move(note));
    all.wrong += table->wrong;
  }
  if (request.out.empty()) return all;
  const Status written = write_file(request.out, write_collective_table(all.rows));
  if (!written.ok()) return written.error();
  return all;
}

}  // namespace stint
