#pragma once

#include <array>
#include <optional>
#include <string>
#include <sys/types.h>

#include "base/descriptor.h"
#include "provider/engine_desk.h"

namespace stint {

/// A provider whose engine may take its time: a process of its own for each lane makes the calls,
/// so that nobody waits for them, and looks go on while an order hangs. A process that ends, or
/// whose call takes longer than the patience, is replaced, and its call repeated. They end with
/// this object. `engine` outlives it.
class AskedProvider : public Provider {
 public:
  explicit AskedProvider(const Engine& engine, EnginePace pace = {});
  ~AskedProvider() override;
  AskedProvider(const AskedProvider&) = delete;
  AskedProvider& operator=(const AskedProvider&) = delete;

  void request(const MachineOrder& order) override;
  void release(const std::string& name) override;
  ProviderNews observe() override;
  int descriptor() const override { return both_.get(); }
  Result<pid_t> spawn(const std::string& name, Command command) override;

 private:
  /// The process of a lane.
  struct Asker {
    pid_t pid = -1;
    Descriptor socket = {};
    std::string heard = {};                  // The beginning of an answer.
    std::optional<Deadline> answer_by = {};  // A call is under way.
  };

  Asker& of(EngineLane lane) { return askers_[static_cast<std::size_t>(lane)]; }
  Status start(Asker& asker);
  void end(Asker& asker) const;
  void hear(EngineLane lane);
  void give_up(EngineLane lane, const std::string& why);
  void ask_next(EngineLane lane);

  const Engine& engine_;
  EnginePace pace_;
  EngineDesk desk_;
  std::array<Asker, kEngineLanes.size()> askers_;
  Descriptor both_;  // Readable while one of the sockets is.
};

}  // namespace stint
