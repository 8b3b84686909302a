#pragma once

#include <string>

#include "app/local/probe_network.h"
#include "base/json.h"
#include "base/terminal.h"

namespace stint::cli {

/// What a probe will do: how many sums over which VMs, and about how long that takes.
std::string outline_text(const ProbeOutline& outline, const ProbeRequest& request,
                         const Terminal& terminal);

/// What a probe of the network found, for a person; `today` tells the calibration's age.
std::string probe_text(const ProbeReport& report, const Date& today, const Terminal& terminal);

/// The same for a program.
Json probe_json(const ProbeReport& report, const Date& today);

}  // namespace stint::cli
