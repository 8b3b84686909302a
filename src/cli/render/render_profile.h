#pragma once

#include <string>

#include "app/import/profile_job.h"
#include "base/terminal.h"

namespace stint::cli {

/// What a profile measured, for a person to read: times by batch, buckets, noise, sizes.
std::string profile_text(const ProfileReport& report, const Terminal& terminal);

}  // namespace stint::cli
