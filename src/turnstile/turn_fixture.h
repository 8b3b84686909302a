#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "turnstile/turn_file.h"

namespace stint {

/// A private folder that is removed with its contents.
class TurnFolder {
 public:
  TurnFolder() { path_ = ::mkdtemp(path_.data()); }
  ~TurnFolder() { std::filesystem::remove_all(path_); }
  TurnFolder(const TurnFolder&) = delete;
  TurnFolder& operator=(const TurnFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name = "turnstile") const { return path_ + "/" + name; }

 private:
  std::string path_ =
      std::filesystem::exists("/dev/shm") ? "/dev/shm/stint-turn-XXXXXX" : "/tmp/stint-turn-XXXXXX";
};

/// The reason of a refusal; empty where there is none.
template <class T>
std::string reason_of(const TurnResult<T>& result) {
  const auto* refusal = std::get_if<TurnRefusal>(&result);
  return refusal == nullptr ? "" : refusal->reason;
}

}  // namespace stint
