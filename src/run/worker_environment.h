#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Workers run other people's code on rented machines, so they get no variable of this process that
// they do not need: those of a list, those that the user names, and those that Stint sets.

namespace stint {

/// Whether workers get the variable without being asked: what programs, Python, PyTorch and their
/// libraries read, without names that suggest a secret, such as HF_TOKEN.
bool is_usual_variable(std::string_view name);

/// Whether workers get the variable of the machine that they run on: the usual ones, and what the
/// machine's engine tells programs there.
bool is_machine_variable(std::string_view name);

/// Reads the values of --env, "NAME,NAME" or "NAME=value", into one text for each variable: "NAME"
/// or "NAME=value". Usage errors: something else, or a variable that Stint sets itself.
Result<std::vector<std::string>> parse_worker_variables(const std::vector<std::string>& given);

/// Whether workers get the variable `name` of this process. `added` is what --env names.
bool is_passed_on(std::string_view name, const std::vector<std::string>& added);

/// Those of `added` that come with a value: "NAME=value".
std::vector<std::string> given_values(const std::vector<std::string>& added);

/// The others with their values in this process, in the same form.
std::vector<std::string> own_values(const std::vector<std::string>& added);

/// The first of `added` that has no value and is not among the variables of this process.
std::optional<std::string> missing_variable(const std::vector<std::string>& added,
                                            const std::vector<std::string>& names);

/// The number of variables of this process that workers do not get. What a shell keeps for itself,
/// such as PWD, does not count.
int withheld_variables(const std::vector<std::string>& added,
                       const std::vector<std::string>& names);

}  // namespace stint
