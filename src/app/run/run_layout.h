#pragma once

#include "app/run/run_setup.h"
#include "base/result.h"

namespace stint {

/// Sets how the script splits its model over the machines of the cluster, each of which has one
/// worker: `text` is the user's layout or that of the plan, empty where there is none. Usage
/// errors: degrees that do not multiply to the machines, and a script or a way to compute that
/// knows no layouts.
Status set_layout(const std::string& text, std::optional<RunCompute> compute, PreparedRun& run);

}  // namespace stint
