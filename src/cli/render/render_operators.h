#pragma once

#include <string>

#include "app/import/profile_for.h"
#include "base/terminal.h"

namespace stint::cli {

/// What a profile without a GPU found and predicts: steps by accelerator, with what autocast, fused
/// attention and torch.compile would make of them, operators, sizes and notes.
std::string profile_for_text(const ProfileForReport& report, const Terminal& terminal);

}  // namespace stint::cli
