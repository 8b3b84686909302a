#include "provider/engine_call.h"

#include <array>
#include <utility>

namespace stint {
namespace {

constexpr std::array<EnumName<EngineAsk>, 3> kAsks = {{{EngineAsk::kRequest, "request"},
                                                       {EngineAsk::kRelease, "release"},
                                                       {EngineAsk::kLook, "look"}}};

}  // namespace

std::span<const EnumName<EngineAsk>> names_of(EngineAsk /*type*/) { return kAsks; }

EngineAnswer perform(const Engine& engine, const EngineCall& call) {
  switch (call.ask) {
    case EngineAsk::kRequest: {
      auto answer = engine.request(call.order);
      if (!answer.ok()) return {.error = answer.error().message};
      return {.refusal = std::move(*answer)};
    }
    case EngineAsk::kRelease: {
      const Status done = engine.release(call.order.name);
      return done.ok() ? EngineAnswer{} : EngineAnswer{.error = done.error().message};
    }
    case EngineAsk::kLook:
      break;
  }
  auto list = engine.look();
  if (!list.ok()) return {.error = list.error().message};
  return {.list = std::move(*list)};
}

}  // namespace stint
