// Past the parsers: numbers of any size in a job, in a catalogue and in options, through predict,
// plan, risk, interleave and search. Whatever is accepted gets an answer of finite numbers in
// bounded time and memory (libFuzzer's -timeout and -rss_limit_mb); the rest is refused. With
// STINT_SHOW set it prints the command and its files instead.
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "cli/run.h"

namespace {

using Words = std::vector<std::string>;

/// Draws numbers and choices from the fuzzer's bytes; zeros follow the last of them.
class Draw {
 public:
  explicit Draw(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  int byte() { return next_ < bytes_.size() ? bytes_[next_++] : 0; }

  /// A number around 10^`usual`. Most are of everyday sizes, which reach farthest, others at both
  /// ends of what there is, and some of any size that a double has.
  std::string number(int usual) {
    const int size = byte();
    int exponent = usual + size % 9 - 4;
    if (size >= 160) exponent = usual + size % 37 - 18;
    if (size >= 240) exponent = (size - 248) * 40;
    return fmt::format("{:.3f}e{}", 1 + byte() / 28.5, exponent);
  }

  std::string bytes() { return number(8) + " B"; }
  std::string seconds() { return number(-1) + " s"; }
  std::string hours() { return number(1) + " h"; }
  std::string rate() { return number(9) + " B/s"; }
  std::string price() { return number(0) + " USD/h"; }

  std::string share() { return fmt::format("{}", byte() / 256.0); }

  /// 0, 0.9, 0.99 …
  std::string confidence() { return fmt::format("{}", 1 - std::pow(10, -(byte() % 18))); }

  /// A whole number of 1 or more.
  std::string count() {
    const int size = byte();
    if (size < 192) return fmt::format("{}", 1 + size % 16);
    return fmt::format("{:.0f}", std::floor(std::exp2((size - 191) / 2.03)));
  }

  template <class T, std::size_t N>
  T one_of(const std::array<T, N>& choices) {
    return choices[static_cast<std::size_t>(byte()) % N];
  }

  /// Adds an option, or leaves it out.
  void maybe(Words& words, const char* option, const std::string& value) {
    if (byte() % 4 == 3) return;
    words.emplace_back(option);
    words.push_back(value);
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t next_ = 0;
};

std::string compute(Draw& draw, int batch) {
  return fmt::format(
      R"({{"device": "Local-1x", "batch_per_worker": {}, "forward": {{"median": "{}"}},
 "backward": {{"median": "{}"}}, "update": {{"median": "{}"}}, "peak_memory": "{}"}})",
      batch, draw.seconds(), draw.seconds(), draw.seconds(), draw.bytes());
}

std::string job(Draw& draw) {
  const std::string gradients = draw.bytes();
  const std::array rules{"fixed", "linear", "square-root", "adascale"};
  return fmt::format(
      R"({{"schema": "stint.job/1", "name": "fuzz", "gradient_bytes": "{0}",
 "parameter_bytes": "{0}", "optimizer_bytes": "{1}", "buckets": [{{"bytes": "{0}", "ready": {2}}}],
 "compute": [{3}, {4}], "samples_per_epoch": {5}, "goal": {{"epochs": {6}}},
 "batch": {{"reference": {7}00}}, "learning_rate_rule": "{8}",
 "checkpoint": {{"bytes": "{9}", "save_time": "{10}"}},
 "noise": [{{"batch": {7}, "gradient_square": {11}, "gradient_variance": {12}}}]}})",
      gradients, draw.bytes(), draw.share(), compute(draw, 8), compute(draw, 64), draw.count(),
      draw.number(1), draw.count(), draw.one_of(rules), draw.bytes(), draw.seconds(),
      draw.number(0), draw.number(3));
}

std::string vm_type(Draw& draw, std::string_view name) {
  return fmt::format(
      R"({{"provider": "fuzz", "name": "{}", "accelerator": {{"name": "Local-1x", "count": {},
 "memory": "{}", "gpu": "Local-1x"}}, "vcpus": {}, "memory": "{}",
 "network": {{"baseline": "{}"}}, "source": "s", "offers": [{{"region": "r",
 "on_demand": {{"price": "{}", "date": "2026-11-01", "source": "s"}},
 "spot": {{"price": "{}", "date": "2026-11-01", "source": "s"}},
 "interruption": {{"monthly_min": {}, "date": "2026-11-01", "source": "s"}}}}]}})",
      name, draw.count(), draw.bytes(), draw.count(), draw.bytes(), draw.rate(), draw.price(),
      draw.price(), draw.share());
}

std::string catalog(Draw& draw) {
  return fmt::format(
      R"({{"schema": "stint.catalog/1", "sources": [{{"id": "s", "name": "fuzz"}}],
 "types": [{}, {}]}})",
      vm_type(draw, "fuzz.a"), vm_type(draw, "fuzz.b"));
}

std::string trace(Draw& draw) {
  return fmt::format(R"({{"metadata": {{"gap_seconds": {}}}, "data": [{}, 0, {}, 4, 1, 0, 2]}})",
                     draw.number(2), draw.count(), draw.count());
}

std::string cluster(Draw& draw) {
  return fmt::format("{}x fuzz.a{}", draw.count(), draw.one_of(std::array{"", ":spot"}));
}

/// A command for each verb whose answer is computed.
Words command(Draw& draw, const std::string& folder) {
  const std::string job_file = folder + "/job.json";
  Words words;
  switch (draw.byte() % 8) {
    case 0:
      words = {"predict", "--job", job_file, "--cluster", cluster(draw)};
      draw.maybe(words, "--batch-per-worker", draw.count());
      draw.maybe(words, "--accumulation", draw.count());
      draw.maybe(words, "--predictor", draw.one_of(std::array{"analytic", "event"}));
      return words;
    case 1:
      words = {"plan", "--job", job_file, "--providers", "fuzz"};
      draw.maybe(words, "--deadline", draw.hours());
      draw.maybe(words, "--budget", draw.number(2) + draw.one_of(std::array{"usd", "usd/h"}));
      draw.maybe(words, "--confidence", draw.confidence());
      draw.maybe(words, "--max-vms", draw.count());
      return words;
    case 2:
      words = {"risk", "survive", "--vm", "fuzz.a", "--for", draw.hours()};
      draw.maybe(words, "--count", draw.count());
      return words;
    case 3:
      words = {"risk", "saves", "--vm", "fuzz.a", "--work", draw.hours()};
      draw.maybe(words, "--bytes", draw.bytes());
      draw.maybe(words, "--stall", draw.seconds());
      draw.maybe(words, "--count", draw.count());
      return words;
    case 4:
      words = {"risk", "replay", "--trace", folder + "/trace.json"};
      draw.maybe(words, "--work", draw.number(5) + "s");
      draw.maybe(words, "--deadline", draw.number(6) + "s");
      draw.maybe(words, "--changeover", draw.number(2) + "s");
      draw.maybe(words, "--price-ratio", draw.number(0));
      draw.maybe(words, "--machines", draw.count());
      return words;
    case 5:
      words = {"interleave", "--jobs", job_file, "paced-5mb", "--cluster", cluster(draw)};
      draw.maybe(words, "--batch-per-worker", draw.count());
      draw.maybe(words, "--iterations", draw.count());
      draw.maybe(words, "--deadline", draw.hours());
      return words;
    case 6:
      words = {"whatif", "--job", job_file, "--cluster", cluster(draw)};
      draw.maybe(words, "--network", draw.rate());
      draw.maybe(words, "--vms", draw.count());
      return words;
    default:
      words = {"search", "--dry-run", "--job", job_file, "--target", "steps=" + draw.count()};
      draw.maybe(words, "--batch", draw.count());
      draw.maybe(words, "--max-vms", draw.count());
      draw.maybe(words, "--max-time", draw.hours());
      draw.maybe(words, "--max-cost", draw.number(2) + "usd");
      draw.maybe(words, "--probe-steps", draw.count());
      words.insert(words.end(), {"--", "train"});
      return words;
  }
}

/// Whether `text` has `word` with no letter beside it.
bool has_word(std::string_view text, std::string_view word) {
  const auto letter = [&](std::size_t at) {
    return at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
  }
  return false;
}

void run(const Words& words, const std::string& folder) {
  const auto variables = [&](const char* name) -> std::string {
    const std::string_view wanted(name);
    if (wanted == "HOME") return folder;
    return wanted == "STINT_NOW" ? "2026-11-15T00:00:00Z" : "";
  };
  char* text = nullptr;
  std::size_t length = 0;
  std::FILE* stream = ::open_memstream(&text, &length);
  CHECK(stream != nullptr);
  const auto code = stint::cli::run(words, variables, stream, stream);
  std::fclose(stream);
  const std::string answer(text, length);
  std::free(text);
  // Shown where one of the following fails, as the command that a person would type.
  const bool nonsense =
      code == stint::cli::kExitOk && (has_word(answer, "inf") || has_word(answer, "nan"));
  const bool wrong = code == stint::cli::kExitFailed || code > stint::cli::kExitBadInput;
  if (nonsense || wrong) {
    fmt::print(stderr, "stint {}\n{}", fmt::join(words, " "), answer);
  }
  CHECK(!nonsense);
  CHECK(!wrong);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const auto folder = stint::TemporaryFolder::make();
  CHECK(folder.ok());
  const std::string catalogs = folder->path() + "/.local/share/stint/catalogs";
  std::filesystem::create_directories(catalogs);
  Draw draw({bytes, size});
  const Words words = command(draw, folder->path());
  const std::string jobs = job(draw);
  const std::string traces = trace(draw);
  const std::string types = catalog(draw);
  CHECK(stint::write_file(folder->path() + "/job.json", jobs).ok());
  CHECK(stint::write_file(folder->path() + "/trace.json", traces).ok());
  CHECK(stint::write_file(catalogs + "/fuzz.json", types).ok());
  if (std::getenv("STINT_SHOW") != nullptr) {
    fmt::print("stint '{}'\n{}\n{}\n{}\n", fmt::join(words, "' '"), jobs, traces, types);
    return 0;
  }
  run(words, folder->path());
  return 0;
}
