#include "load/file_maker.h"

#include <array>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace stint {
namespace {

constexpr const char* kHost = "made_on";
constexpr const char* kUser = "made_by";

}  // namespace

FileMaker this_maker() {
  FileMaker maker{.host = {}, .user = static_cast<std::int64_t>(::geteuid())};
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) maker.host = name.data();
  return maker;
}

FileMaker maker_of(const JobProfile& job) {
  FileMaker maker;
  if (const auto host = job.environment.find(kHost); host != job.environment.end()) {
    maker.host = host->second;
  }
  if (const auto user = job.environment.find(kUser); user != job.environment.end()) {
    // A user that is no number is nobody here.
    maker.user = parse_int(user->second).value_or(-1);
  }
  return maker;
}

void set_maker(const FileMaker& maker, JobProfile& job) {
  if (maker.host) job.environment[kHost] = *maker.host;
  if (maker.user) job.environment[kUser] = fmt::format("{}", *maker.user);
}

FileMaker command_maker(const JobProfile& job) {
  FileMaker maker = this_maker();
  const FileMaker its = maker_of(job);
  if (its.host) maker.host = its.host;
  if (its.user) maker.user = its.user;
  return maker;
}

FileMaker maker_of(const PlanAnswer& answer) {
  return {.host = answer.made_on, .user = answer.made_by};
}

void set_maker(const FileMaker& maker, PlanAnswer& answer) {
  answer.made_on = maker.host;
  answer.made_by = maker.user;
}

std::optional<std::string> foreign_reason(const std::string& file, const FileMaker& maker) {
  const FileMaker here = this_maker();
  if (maker.host && maker.host != here.host) {
    return fmt::format("it was made on another computer, {}", printable(*maker.host));
  }
  if (maker.user && maker.user != here.user) {
    return fmt::format("it was made by another user, {}", *maker.user);
  }
  struct stat facts = {};
  if (::stat(file.c_str(), &facts) != 0) return std::nullopt;
  const auto owner = static_cast<std::int64_t>(facts.st_uid);
  if (owner == here.user) return std::nullopt;
  return fmt::format("it belongs to another user, {}", owner);
}

}  // namespace stint
