#pragma once

#include <string>

#include "app/import/profile_job.h"
#include "base/json.h"
#include "base/terminal.h"
#include "measure/tables/nccl_text.h"
#include "measure/trace/trace_profile.h"

namespace stint::cli {

/// What a profile measured, for a person to read: times by batch, buckets, noise, sizes.
std::string profile_text(const ProfileReport& report, const Terminal& terminal);

/// What was found in traces, part by part, and what was not.
std::string trace_text(const TraceProfile& profile, const Terminal& terminal);
Json trace_json(const TraceProfile& profile);

/// The measured collectives of nccl-tests: each run in a line.
std::string nccl_text(const NcclTable& table, const Terminal& terminal);
Json nccl_json(const NcclTable& table);

}  // namespace stint::cli
