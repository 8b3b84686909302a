#pragma once

#include <string>
#include <utility>

#include "base/clock.h"
#include "provider/engine_desk.h"

namespace stint {

/// A provider that makes the calls of its engine itself, when it is asked for news. For engines
/// that answer at once, and for tests. `engine` outlives it.
class InlineProvider : public Provider {
 public:
  explicit InlineProvider(const Engine& engine, EnginePace pace = {})
      : engine_(engine), desk_(pace) {}

  void request(const MachineOrder& order) override { desk_.request(order); }
  void release(const std::string& name) override { desk_.release(name); }

  ProviderNews observe() override {
    for (const EngineLane lane : kEngineLanes) {
      while (const auto call = desk_.next(lane, boot_time())) {
        desk_.answered(lane, perform(engine_, *call), boot_time());
      }
    }
    return desk_.take_news();
  }

  int descriptor() const override { return -1; }

  Result<pid_t> spawn(const std::string& name, Command command) override {
    return engine_.spawn(name, std::move(command));
  }

 private:
  const Engine& engine_;
  EngineDesk desk_;
};

}  // namespace stint
