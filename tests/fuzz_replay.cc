// Feeds every file of the folders it is given to the fuzz target it is linked with, so that the
// seed corpus and every input that once broke something is tried by `make test`.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

int main(int argc, char** argv) {
  int replayed = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      const auto bytes = stint::read_file(entry.path().string());
      if (!bytes.ok()) {
        std::fprintf(stderr, "%s\n", bytes.error().message.c_str());
        return 1;
      }
      // The name is printed first, so that a crash tells which input it was.
      std::printf("%s\n", entry.path().filename().c_str());
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size());
      ++replayed;
    }
  }
  std::printf("%d inputs replayed\n", replayed);
  return replayed > 0 ? 0 : 1;
}
