#include "app/local/doctor.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "app/run/run_report.h"
#include "base/text.h"
#include "cloud/cluster_spec.h"
#include "cloud/namespaces.h"
#include "load/catalog_cases.h"

namespace stint {
namespace {

namespace fs = std::filesystem;
using Verdict = Finding::Level;

constexpr int kOldPriceDays = 180;

/// The oldest and newest price of a provider on one market.
struct PriceDates {
  Date oldest;
  Date newest;
  int prices = 0;
};

PriceDates price_dates(const Catalog& catalog, const std::string& provider, Market market) {
  PriceDates dates;
  for (const VmType& type : catalog.types) {
    if (type.provider != provider) continue;
    for (const Offer& offer : type.offers) {
      const auto& price = market == Market::kSpot ? offer.spot : offer.on_demand;
      if (!price) continue;
      dates.oldest = dates.prices == 0 ? price->date : std::min(dates.oldest, price->date);
      dates.newest = dates.prices == 0 ? price->date : std::max(dates.newest, price->date);
      ++dates.prices;
    }
  }
  return dates;
}

Finding judge_prices(const std::string& provider, Market market, const PriceDates& dates,
                     const Date& today) {
  const int age = days_between(dates.oldest, today);
  const bool old = age > kOldPriceDays;
  if (age < 0) {
    return {Verdict::kAdvice, fmt::format("{} {}", provider, name_of(market)),
            fmt::format("{} prices are dated {}, after today, {}", dates.prices,
                        to_text(dates.oldest), to_text(today)),
            "set the clock of this computer"};
  }
  const std::string range = dates.oldest == dates.newest
                                ? to_text(dates.oldest)
                                : to_text(dates.oldest) + " to " + to_text(dates.newest);
  return {old ? Verdict::kAdvice : Verdict::kGood, fmt::format("{} {}", provider, name_of(market)),
          fmt::format("{} prices are dated {}, {} days old", dates.prices, range, age),
          old ? fmt::format("stint catalog import FILE --provider {}", provider) : ""};
}

std::vector<Finding> examine_prices(const Catalog& catalog, const Date& today) {
  std::vector<std::string> providers;
  for (const VmType& type : catalog.types) {
    // Fictitious prices do not age.
    if (type.provider == kLocalProvider) continue;
    if (std::find(providers.begin(), providers.end(), type.provider) == providers.end()) {
      providers.push_back(type.provider);
    }
  }
  std::vector<Finding> findings;
  for (const std::string& provider : providers) {
    for (const Market market : {Market::kOnDemand, Market::kSpot}) {
      const PriceDates dates = price_dates(catalog, provider, market);
      if (dates.prices > 0) findings.push_back(judge_prices(provider, market, dates, today));
    }
  }
  return findings;
}

Finding examine_catalog(const Result<Loaded<Catalog>>& loaded) {
  if (!loaded.ok()) {
    return {Verdict::kBroken, "catalogue", loaded.error().message,
            "repair or move the file named above"};
  }
  std::size_t types = 0;
  std::size_t offers = 0;
  for (const VmType& type : loaded->noun.types) {
    if (type.provider == kLocalProvider) continue;
    ++types;
    offers += type.offers.size();
  }
  if (!loaded->warnings.empty()) {
    return {Verdict::kAdvice, "catalogue",
            fmt::format("{} in your catalogues: {}", counted(loaded->warnings.size(), "warning"),
                        loaded->warnings[0]),
            "stint catalog list --verbose"};
  }
  return {Verdict::kGood, "catalogue", fmt::format("{} VM types, {} offers", types, offers), ""};
}

/// The folder itself, or the nearest one above it that exists.
fs::path nearest_existing(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

Finding examine_user_folder(const Environment& environment) {
  const auto folder = user_catalog_folder(environment);
  if (!folder.ok()) {
    return {Verdict::kBroken, "own catalogues", folder.error().message,
            "set HOME to your home folder"};
  }
  const fs::path existing = nearest_existing(*folder);
  std::error_code error;
  if (!fs::is_directory(existing, error)) {
    return {Verdict::kBroken, "own catalogues",
            fmt::format("{} is a file, but a folder is needed", existing.string()),
            fmt::format("mv {} {}", shell_quoted(existing.string()),
                        shell_quoted(existing.string() + ".old"))};
  }
  const bool writable = ::access(existing.c_str(), W_OK | X_OK) == 0;
  if (!writable) {
    return {Verdict::kBroken, "own catalogues",
            fmt::format("{} is not writable", existing.string()),
            fmt::format("chmod u+wx {}", shell_quoted(existing.string()))};
  }
  const bool made = existing == fs::path(*folder);
  return {Verdict::kGood, "own catalogues",
          fmt::format("{}{}", *folder, made ? "" : " (the first import creates it)"), ""};
}

Finding examine_locale(const Environment& environment) {
  const std::string charset = to_lower(environment.charset);
  const bool utf8 = charset == "utf-8" || charset == "utf8";
  if (utf8) return {Verdict::kGood, "tables", "the terminal's locale is UTF-8", ""};
  return {Verdict::kAdvice, "tables", "the locale is not UTF-8, so text may be printed in ASCII",
          "export LC_ALL=C.UTF-8"};
}

struct CompletionPlace {
  const char* shell;
  const char* folder;  // Under the home folder.
  const char* file;
  const char* shared;  // Location of `make install`, under a prefix.
};

Finding examine_completion(const Environment& environment) {
  constexpr CompletionPlace kPlaces[] = {
      {"bash", ".local/share/bash-completion/completions", "stint",
       "share/bash-completion/completions/stint"},
      {"zsh", ".zfunc", "_stint", "share/zsh/site-functions/_stint"},
      {"fish", ".config/fish/completions", "stint.fish",
       "share/fish/vendor_completions.d/stint.fish"}};
  for (const CompletionPlace& place : kPlaces) {
    if (environment.shell != place.shell || environment.home.empty()) continue;
    const std::string folder = fmt::format("{}/{}", environment.home, place.folder);
    const std::string file = fmt::format("{}/{}", folder, place.file);
    for (const std::string& one :
         {file, fmt::format("/usr/local/{}", place.shared), fmt::format("/usr/{}", place.shared)}) {
      std::error_code error;
      if (fs::exists(one, error)) return {Verdict::kGood, "completion", one, ""};
    }
    return {Verdict::kAdvice, "completion", fmt::format("not installed for {}", place.shell),
            fmt::format("mkdir -p {} && stint completion {} > {}", shell_quoted(folder),
                        place.shell, shell_quoted(file))};
  }
  return {Verdict::kGood, "completion", "for bash, zsh and fish: stint completion --help", ""};
}

constexpr const char* kLocalCloud = "local cloud";

/// Whether the emulated cloud works on this computer, and its measured limits.
Finding examine_local_cloud(const HostSupport& host) {
  if (!host.namespaces.ok()) {
    return {Verdict::kAdvice, kLocalCloud, host.namespaces.error().message,
            "sudo sysctl -w user.max_user_namespaces=10000"};
  }
  if (!host.network.ok() || !host.shaping.ok()) {
    const bool tools = !host.network.ok();
    return {Verdict::kAdvice, kLocalCloud, (tools ? host.network : host.shaping).error().message,
            tools ? "sudo apt-get install iproute2" : "sudo modprobe sch_htb"};
  }
  return {
      Verdict::kGood, kLocalCloud,
      fmt::format("{}, with iproute2 and HTB; accurate while VMs x rate is at most {:g} Gbit/s",
                  host.user_namespace ? "works without root, in user namespaces" : "works as root",
                  kHonestTraffic.in(kGbit / kSecond)),
      ""};
}

Finding examine_quotas(const HostSupport& host) {
  if (host.cgroups.version == CgroupVersion::kNone) {
    return {Verdict::kAdvice, "local quotas", "no cgroups, so --quota does not work", ""};
  }
  const char* version = host.cgroups.version == CgroupVersion::kV1 ? "cgroup v1" : "cgroup v2";
  if (!host.quotas) {
    return {Verdict::kAdvice, "local quotas",
            fmt::format("{}, but {} is not writable, so --quota does not work", version,
                        host.cgroups.folder),
            ""};
  }
  return {Verdict::kGood, "local quotas", version, ""};
}

/// Runs whose machines cost though no process conducts them.
std::vector<Finding> examine_runs(const Environment& environment) {
  constexpr const char* kRuns = "runs";
  const auto list = list_runs(environment);
  if (!list.ok()) return {};
  std::vector<Finding> findings;
  for (const RunLine& run : list->runs) {
    if (!run.left) continue;
    const std::string name = shell_quoted(run.name);
    std::string detail = fmt::format(
        "no process conducts {}, but {} up at ${:.4f}/h, ${:.4f} so far", run.name,
        run.left->vms.size() == 1 ? "1 machine is"
                                  : fmt::format("{} machines are", run.left->vms.size()),
        run.left->rate.in(kDollar / kHour), run.left->cost.in(kDollar));
    if (run.saved < run.steps) detail += fmt::format("; 'stint run --resume {}' resumes it", name);
    findings.push_back({Verdict::kAdvice, kRuns, std::move(detail), "stint stop " + name});
  }
  if (!findings.empty()) return findings;
  return {{Verdict::kGood, kRuns, "no run left machines up without a process", ""}};
}

}  // namespace

std::vector<Finding> examine(const Environment& environment) {
  const auto loaded = load_catalog(environment);
  std::vector<Finding> findings = {examine_catalog(loaded)};
  if (loaded.ok()) {
    const Date today = date_at(environment.clock->now());
    for (Finding& finding : examine_prices(loaded->noun, today)) {
      findings.push_back(std::move(finding));
    }
  }
  findings.push_back(examine_user_folder(environment));
  findings.push_back(examine_locale(environment));
  findings.push_back(examine_completion(environment));
  const HostSupport host = examine_host();
  findings.push_back(examine_local_cloud(host));
  findings.push_back(examine_quotas(host));
  for (Finding& finding : examine_runs(environment)) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace stint
