#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/codec_fields.h"
#include "base/result.h"
#include "provider/engine.h"

namespace stint {

enum class EngineAsk { kRequest, kRelease, kLook };

std::span<const EnumName<EngineAsk>> names_of(EngineAsk type);

/// A call of an engine, as a value.
struct EngineCall {
  EngineAsk ask = EngineAsk::kLook;
  MachineOrder order = {};  // Of a release only the name.
};

/// The result of a call.
struct EngineAnswer {
  std::optional<std::string> error = {};  // Nobody knows what became of the call.
  std::optional<MachineRefusal> refusal = {};
  std::optional<MachineList> list = {};
};

EngineAnswer perform(const Engine& engine, const EngineCall& call);

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, EngineCall>& it) {
  walk.field("ask", it.ask, "What is asked.");
  walk.field("order", it.order, "Machine that is asked for.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, EngineAnswer>& it) {
  walk.field("error", it.error, "Why there is no answer.");
  walk.field("refusal", it.refusal, "Why the machine is refused.");
  walk.field("list", it.list, "Machines that were found.");
}

}  // namespace stint
