#include "base/terminal.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include "base/text.h"

namespace stint {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read at start only.
  return value == nullptr ? "" : value;
}

int width_of(std::FILE* stream, bool interactive) {
  constexpr int kNarrowest = 20;
  const auto columns = parse_int(environment("COLUMNS"));
  if (columns && *columns > 0) return std::max(*columns, kNarrowest);
  if (!interactive) return 0;
  winsize size{};
  const bool known = ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::max<int>(size.ws_col, kNarrowest) : 80;
}

}  // namespace

Terminal terminal_of(std::FILE* stream) {
  Terminal terminal;
  terminal.interactive = ::isatty(::fileno(stream)) == 1;
  terminal.colour =
      terminal.interactive && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  terminal.width = width_of(stream, terminal.interactive);
  return terminal;
}

std::string painted(std::string_view text, Colour colour, const Terminal& terminal) {
  if (!terminal.colour) return std::string(text);
  constexpr const char* kCodes[] = {"1", "2", "31", "32", "33"};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<int>(colour)], text);
}

std::string progress_picture(std::string_view label, double done, int width) {
  const double fraction = std::clamp(done, 0.0, 1.0);
  const auto percent = static_cast<int>(std::floor(fraction * 100));
  const int room = width - display_width(label) - 9;  // Spaces, brackets and " 100 %".
  if (room < 4) return fmt::format("{:3} %", percent);
  const int length = std::min(room, 40);
  const auto filled = static_cast<int>(std::floor(fraction * length));
  return fmt::format("{} [{:#<{}}{:.<{}}] {:3} %", label, "", filled, "", length - filled, percent);
}

ProgressBar::ProgressBar(std::string label, const Terminal& terminal, std::FILE* stream)
    : label_(std::move(label)), terminal_(terminal), stream_(stream) {}

ProgressBar::~ProgressBar() {
  if (!shown_.empty()) std::fputs("\r\x1b[K", stream_);
}

void ProgressBar::show(double done) {
  if (!terminal_.interactive) return;
  std::string picture = progress_picture(label_, done, terminal_.width);
  if (picture == shown_) return;
  std::fputs(("\r" + picture).c_str(), stream_);
  std::fflush(stream_);
  shown_ = std::move(picture);
}

}  // namespace stint
