#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "job/job.h"
#include "plan/plan.h"

namespace stint {

/// The computer and the user that made a file, as the file says.
struct FileMaker {
  std::optional<std::string> host = {};
  std::optional<std::int64_t> user = {};
};

/// This computer and this user.
FileMaker this_maker();

/// What a profile says, and a way to have it say so. It is among the facts of the measurement.
FileMaker maker_of(const JobProfile& job);
void set_maker(const FileMaker& maker, JobProfile& job);

/// Who made the command of a plan that is made here from a profile with a command.
FileMaker command_maker(const JobProfile& job);

/// What a plan says.
FileMaker maker_of(const PlanAnswer& answer);
void set_maker(const FileMaker& maker, PlanAnswer& answer);

/// Why a file comes from elsewhere, as a clause: it was made on another computer or by another
/// user, or belongs to another user. Nothing: it was made here, as far as can be told.
std::optional<std::string> foreign_reason(const std::string& file, const FileMaker& maker);

}  // namespace stint
