// The mapped file of a turnstile, damaged: whoever opens it, or has it open, neither crashes nor
// waits for longer than it asked to. The input overwrites parts of a file with one member: offset
// (2 bytes), length (1 byte), bytes.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include "turnstile/turn_fixture.h"
#include "turnstile/turn_member.h"

namespace {

constexpr stint::Nanoseconds kLimit = std::chrono::microseconds(100);
// The word of the lock that says who has it. With a wrong one a member waits for five seconds, as
// for an owner that is stopped.
constexpr off_t kOwnerOffset = 72;

/// This room includes no other, and so has no CHECK.
void require(bool condition) {
  if (!condition) std::abort();
}

void damage(const std::string& path, const std::uint8_t* bytes, std::size_t size) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  require(file >= 0);
  std::size_t at = 0;
  while (at + 3 < size) {
    const std::size_t offset = (bytes[at] + 256U * bytes[at + 1]) % stint::turn_file_size();
    std::size_t length = std::min<std::size_t>(bytes[at + 2], size - at - 3);
    length = std::min(length, stint::turn_file_size() - offset);
    require(::pwrite(file, bytes + at + 3, length, static_cast<off_t>(offset)) >= 0);
    at += 3 + length;
  }
  const std::uint32_t no_owner = 0;
  require(::pwrite(file, &no_owner, sizeof no_owner, kOwnerOffset) == sizeof no_owner);
  ::close(file);
}

void use(stint::TurnMember& member) {
  member.ask();
  member.wait(kLimit);
  member.offer({}, kLimit);
  member.give();
  member.take(kLimit);
  member.withdraw();
  member.leave();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const stint::TurnFolder folder;
  const std::string path = folder.file();
  std::filesystem::remove(path);
  auto file = stint::TurnFile::open(path);
  require(stint::reason_of(file).empty());
  auto early = stint::TurnMember::join(std::get<stint::TurnFile>(file), {.name = "early"});
  require(stint::reason_of(early).empty());
  damage(path, bytes, size);

  StintTurnStatus status;
  stint_turn_status(path.c_str(), &status, nullptr, 0);
  auto again = stint::TurnFile::open(path);
  if (auto* opened = std::get_if<stint::TurnFile>(&again)) {
    auto late = stint::TurnMember::join(*opened, {.name = "late"});
    if (auto* member = std::get_if<stint::TurnMember>(&late)) use(*member);
  }
  use(std::get<stint::TurnMember>(early));
  return 0;
}
