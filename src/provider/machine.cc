#include "provider/machine.h"

#include <array>

namespace stint {
namespace {

constexpr std::array<EnumName<MachinePhase>, 4> kPhases = {{{MachinePhase::kPending, "pending"},
                                                            {MachinePhase::kUp, "up"},
                                                            {MachinePhase::kNoticed, "noticed"},
                                                            {MachinePhase::kGone, "gone"}}};

}  // namespace

std::span<const EnumName<MachinePhase>> names_of(MachinePhase /*type*/) { return kPhases; }

}  // namespace stint
