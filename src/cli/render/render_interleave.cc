#include "cli/render/render_interleave.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "base/check.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"

namespace stint::cli {
namespace {

std::string heading(const SharingAnswer& answer) {
  std::string text =
      fmt::format("{} on {}", counted(answer.jobs.size(), "job"), to_text(answer.cluster));
  if (answer.price) {
    text += fmt::format(": {}/h in {}, price of {}", dollars(answer.price->rate * kHour),
                        answer.price->region, to_text(answer.price->date));
  }
  return text + "\n\n";
}

std::string times(double factor) { return fmt::format("{:.2f}x", factor); }

/// "$8.00 instead of $12.00, 33 % less (25 to 42)".
std::string saved_text(const SharingPair& pair) {
  if (!pair.saved || !pair.choice.cost) return "";
  const Dollars separate = *pair.choice.cost + pair.saved->mean;
  const auto share = [&](Dollars saved) { return 100 * (saved / separate); };
  return fmt::format("; {} instead of {}, {:.1f} % less ({:.1f} to {:.1f})",
                     dollars(*pair.choice.cost), dollars(separate), share(pair.saved->mean),
                     share(pair.saved->p10), share(pair.saved->p90));
}

/// "Other ways: freely 1.20x, separately 1.00x".
std::string other_ways(const SharingVerdict& verdict, const SharingPair& pair) {
  std::vector<std::string> ways;
  for (const SharingChoice& choice : verdict.options) {
    if (choice.mode == pair.choice.mode) continue;
    ways.push_back(fmt::format("{} {}", sharing_text(choice), times(choice.speedup)));
  }
  return "alternatives: " + join(ways, ", ");
}

std::vector<std::string> names_of_members(const SharingPair& pair) {
  std::vector<std::string> names;
  for (const SharingMember& member : pair.choice.members) names.push_back(member.job);
  return names;
}

/// Which jobs share, and how, with the other ways that they could.
std::string pair_lines(const SharingAnswer& answer, const Terminal& terminal) {
  std::string text;
  for (const SharingPair& pair : answer.pairs) {
    const std::vector<std::string> names = names_of_members(pair);
    text += sheet_line("together",
                       fmt::format("{}: {}, speedup {}, makespan {}{}", join(names, " + "),
                                   sharing_text(pair.choice), times(pair.choice.speedup),
                                   duration(pair.choice.time), saved_text(pair)),
                       terminal);
    for (const SharingVerdict& verdict : answer.considered) {
      if (verdict.jobs == names) text += sheet_line("", other_ways(verdict, pair), terminal);
    }
  }
  return text;
}

/// What a job gets, as it is paired.
struct Place {
  const SharingMember* member = nullptr;  // Null: it is alone.
  std::string partner = {};
};

Place place_of(const SharingAnswer& answer, const std::string& job) {
  for (const SharingPair& pair : answer.pairs) {
    const std::vector<SharingMember>& members = pair.choice.members;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].job != job) continue;
      return {.member = &members[i], .partner = members[members.size() - 1 - i].job};
    }
  }
  return {};
}

std::string job_table(const SharingAnswer& answer, const Terminal& terminal) {
  const bool deadlines = std::any_of(answer.jobs.begin(), answer.jobs.end(),
                                     [](const SharingJob& job) { return !!job.deadline; });
  std::vector<Column> columns{{.title = "job", .importance = 9, .width_min = 12},
                              {.title = "with", .importance = 5, .width_min = 12},
                              right("iteration", 6),
                              right("alone", 7),
                              right("time", 9),
                              right("slowdown", 8),
                              right("while shared", 4)};
  if (deadlines) {
    columns.push_back(right("deadline", 7));
    columns.push_back(right("P(deadline)", 8));
  }
  Table table(std::move(columns));
  for (const SharingJob& job : answer.jobs) {
    const auto [member, partner] = place_of(answer, job.name);
    std::vector<std::string> row{job.name,
                                 partner,
                                 milliseconds(job.iteration),
                                 duration(job.time.mean),
                                 duration(member != nullptr ? member->time.mean : job.time.mean),
                                 times(member != nullptr ? member->slowdown : 1),
                                 member != nullptr ? times(member->slowdown_together) : ""};
    if (deadlines) {
      const auto& p = member != nullptr ? member->p_deadline : job.p_deadline;
      row.push_back(job.deadline ? duration(*job.deadline) : "");
      row.push_back(p ? percent(*p) : "");
    }
    table.add(std::move(row));
  }
  return table.text(terminal, "-o json") + "\n";
}

std::string sharing_bill_text(const SharingAnswer& answer) {
  if (!answer.cost || !answer.separate) return "unknown: no region has a price for these VMs";
  if (answer.pairs.empty()) {
    return fmt::format("{} on separate clusters; sharing saves nothing", dollars(*answer.cost));
  }
  const double saved = 1 - 1 / answer.speedup;
  return fmt::format("{} for all, {} on separate clusters: {} less ({})", dollars(*answer.cost),
                     dollars(*answer.separate), dollars(*answer.separate - *answer.cost),
                     percent(saved));
}

}  // namespace

std::string sharing_text(const SharingChoice& choice) {
  switch (choice.mode) {
    case SharingMode::kSeparately:
    case SharingMode::kFreely:
      return name_of(choice.mode);
    case SharingMode::kWhole:
    case SharingMode::kBucket:
      CHECK(choice.turns.size() == 2);
      return fmt::format("{} turns {} : {}", name_of(choice.mode), choice.turns[0],
                         choice.turns[1]);
  }
  CHECK(false);
}

std::string sharing_sheet(const SharingAnswer& answer, const Terminal& terminal) {
  std::string text = heading(answer) + job_table(answer, terminal);
  text += pair_lines(answer, terminal);
  for (const SharingVerdict& verdict : answer.considered) {
    if (!verdict.reason) continue;
    text += sheet_line("apart", fmt::format("{}: {}", join(verdict.jobs, " + "), *verdict.reason),
                       terminal);
  }
  text += sheet_line("bill", sharing_bill_text(answer), terminal);
  for (const std::string& note : answer.notes) text += sheet_line("note", note, terminal);
  for (const std::string& it : answer.assumptions) text += sheet_line("assumed", it, terminal);
  return text;
}

}  // namespace stint::cli
