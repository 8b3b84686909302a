// The folder of a run: its record, a line "--", and its journal. What the files say may be
// nonsense; it is replayed, or refused with a reason.
#include "run/run_replay.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "run/run_folder.h"

namespace {

constexpr std::string_view kBetween = "\n--\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const auto folder = stint::TemporaryFolder::make();
  CHECK(folder.ok());
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t end = text.find(kBetween);
  if (end == std::string_view::npos) return 0;
  const std::string path = folder->path();
  CHECK(stint::write_file(stint::record_path(path), text.substr(0, end)).ok());
  const std::string_view journal = text.substr(end + kBetween.size());
  CHECK(stint::write_file(stint::journal_path_of(path), journal).ok());
  const auto run = stint::replay_run_folder(path);
  CHECK(run.ok() || !run.error().message.empty());
  return 0;
}
