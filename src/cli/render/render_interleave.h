#pragma once

#include <string>

#include "base/terminal.h"
#include "plan/sharing.h"

namespace stint::cli {

/// "bucket turns 2 : 1", "freely".
std::string sharing_text(const SharingChoice& choice);

/// Which jobs share, what each gets, the bill against separate clusters, other ways to share, who
/// may not and why.
std::string sharing_sheet(const SharingAnswer& answer, const Terminal& terminal);

}  // namespace stint::cli
