#include "measure/trace/trace_event.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <limits>
#include <simdjson.h>
#include <vector>

#include "base/check.h"

namespace stint {
namespace {

using Implementation = simdjson::internal::atomic_ptr<const simdjson::implementation>;
using ActiveImplementation = Implementation& (*)();

/// Debian has simdjson as a shared library only. It is loaded when the first trace is read, so that
/// the binary stays one file that starts at once and needs nothing for everything else.
ActiveImplementation load_simdjson() {
  void* const library = ::dlopen(STINT_SIMDJSON, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<ActiveImplementation>(
      ::dlsym(library, "_ZN8simdjson25get_active_implementationEv"));
}

ActiveImplementation active_implementation() {
  static const ActiveImplementation kFunction = load_simdjson();
  return kFunction;
}

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::size_t kBufferBytes = 4096;  // At first; it grows with the largest event.

std::optional<std::int64_t> whole(const element& it) {
  std::int64_t number = 0;
  if (it.get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

std::optional<int> count(const element& it) {
  const auto number = whole(it);
  if (!number || *number < 0 || *number > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*number);
}

std::string_view text_of(const element& it) {
  std::string_view text;
  return it.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

std::optional<double> microseconds(const element& it) {
  double number = 0;
  constexpr double kMost =
      1e18;  // Thirty thousand years; clocks of traces count from 1970 at most.
  if (it.get(number) != simdjson::SUCCESS || !(std::abs(number) <= kMost)) return std::nullopt;
  return number;
}

/// The `index`-th entry, if `it` is an array that has one.
std::optional<element> entry(const element& it, std::size_t index) {
  array list;
  if (it.get(list) != simdjson::SUCCESS) return std::nullopt;
  element found;
  if (list.at(index).get(found) != simdjson::SUCCESS) return std::nullopt;
  return found;
}

/// First extent of an input of "Input Dims"; lists of tensors nest one level deeper.
std::optional<std::int64_t> first_extent(const element& dims, std::size_t input) {
  auto it = entry(dims, input);
  for (int depth = 0; it && depth < 3; ++depth) {
    if (const auto number = whole(*it)) return depth == 0 ? std::nullopt : number;
    it = entry(*it, 0);
  }
  return std::nullopt;
}

/// Product of the extents of the tensor, or sum over the tensors of the list, that comes first.
std::optional<std::int64_t> elements_of(const element& shape, int depth) {
  array list;
  if (depth > 2 || shape.get(list) != simdjson::SUCCESS) return std::nullopt;
  double product = 1;
  double sum = 0;
  bool nested = false;
  for (const element it : list) {
    if (const auto extent = whole(it)) {
      product *= static_cast<double>(*extent);
      continue;
    }
    nested = true;
    const auto inner = elements_of(it, depth + 1);
    if (!inner) return std::nullopt;
    sum += static_cast<double>(*inner);
  }
  const double result = nested ? sum : product;
  constexpr double kMost = 1e15;  // More than any message; a double holds it exactly.
  if (list.size() == 0 || result < 1 || result > kMost) return std::nullopt;
  return static_cast<std::int64_t>(result);
}

void read_dims(TraceEvent& event, const element& dims) {
  event.rows_first = first_extent(dims, 0);
  event.rows_second = first_extent(dims, 1);
  if (event.elements) return;
  if (const auto first = entry(dims, 0)) event.elements = elements_of(*first, 0);
}

void read_arguments(TraceEvent& event, const object& arguments) {
  for (const auto& [key, value] : arguments) {
    if (key == "correlation") {
      event.correlation = whole(value);
    } else if (key == "Input Dims") {
      read_dims(event, value);
    } else if (key == "In msg nelems") {
      event.elements = whole(value);
    } else if (key == "dtype") {
      event.element_type = text_of(value);
    } else if (key == "Input type" && event.element_type.empty()) {
      if (const auto first = entry(value, 0)) event.element_type = text_of(*first);
    } else if (key == "Collective name") {
      event.collective = text_of(value);
    } else if (key == "Group size") {
      event.group_size = count(value);
    }
  }
}

/// Takes the member `key`; the time on the trace's own clock goes to `clock`.
void read_member(TraceEvent& event, std::optional<double>& clock, std::string_view key,
                 const element& value) {
  if (key == "name") {
    event.name = text_of(value);
  } else if (key == "cat") {
    event.category = text_of(value);
  } else if (key == "ph") {
    const std::string_view phase = text_of(value);
    event.phase = phase.size() == 1 ? phase[0] : '?';
  } else if (key == "ts") {
    clock = microseconds(value);
  } else if (key == "dur") {
    event.duration = microseconds(value).value_or(0) * kMicrosecond;
  } else if (key == "args") {
    object arguments;
    if (value.get(arguments) == simdjson::SUCCESS) read_arguments(event, arguments);
  }
}

/// Puts spaces over the last decimals of the event's clock, "ts", beyond 17 digits, which a double
/// cannot hold. Microseconds since 1970 have 19 with their decimals; simdjson is slow with those.
void shorten_clock(char* text, std::size_t size) {
  constexpr std::string_view kClock = "\"ts\":";
  constexpr int kDigitsKept = 17;
  const std::size_t found = std::string_view(text, size).find(kClock);
  if (found == std::string_view::npos) return;
  const char* end = text + size;
  char* at = text + found + kClock.size();
  while (at < end && (*at == ' ' || *at == '-')) ++at;
  int digits = 0;
  char* surplus = nullptr;  // The first decimal that goes.
  bool decimals = false;
  for (; at < end && ((*at >= '0' && *at <= '9') || (*at == '.' && !decimals)); ++at) {
    if (*at == '.') {
      decimals = true;
      digits = std::min(digits, kDigitsKept - 1);  // One decimal has to stay.
    } else if (++digits > kDigitsKept && decimals && surplus == nullptr) {
      surplus = at;
    }
  }
  const bool exponent = at < end && (*at == 'e' || *at == 'E');
  if (surplus == nullptr || exponent) return;
  std::memset(surplus, ' ', static_cast<std::size_t>(at - surplus));
}

}  // namespace
}  // namespace stint

/// The only name of the library that its header refers to in what this file uses.
simdjson::internal::atomic_ptr<const simdjson::implementation>&
simdjson::get_active_implementation() {
  CHECK(stint::active_implementation() != nullptr);
  return stint::active_implementation()();
}

namespace stint {

struct TraceEventParser::Parser {
  /// A copy of `text` with the bytes behind it that simdjson may read.
  simdjson::simdjson_result<element> parse(std::string_view text) {
    if (buffer.size() < text.size() + simdjson::SIMDJSON_PADDING) {
      buffer.resize(2 * text.size() + simdjson::SIMDJSON_PADDING);
    }
    std::memcpy(buffer.data(), text.data(), text.size());
    shorten_clock(buffer.data(), text.size());
    return parser.parse(buffer.data(), text.size(), false);
  }

  simdjson::dom::parser parser;
  std::vector<char> buffer = std::vector<char>(kBufferBytes);
  std::optional<double> origin;  // Clock of the first event, in microseconds.
};

Status TraceEventParser::available() {
  if (active_implementation() != nullptr) return {};
  return Error{
      ErrorKind::kUnavailable,
      fmt::format(
          "cannot load {0}, which reads traces; install it (Debian: apt install libsimdjson14)",
          STINT_SIMDJSON)};
}

TraceEventParser::TraceEventParser() : parser_(std::make_unique<Parser>()) {}
TraceEventParser::~TraceEventParser() = default;

Result<TraceEvent> TraceEventParser::event(std::string_view text) {
  object members;
  const auto code = parser_->parse(text).get(members);
  if (code != simdjson::SUCCESS) {
    return bad_input("invalid JSON; the file may be damaged");
  }
  TraceEvent event;
  std::optional<double> clock;
  for (const auto& [key, value] : members) read_member(event, clock, key, value);
  // Microseconds since 1970 are whole numbers to a double; as seconds they would be rounded.
  if (clock && !parser_->origin) parser_->origin = clock;
  if (clock) event.start = (*clock - *parser_->origin) * kMicrosecond;
  if (event.duration < Seconds{}) event.duration = Seconds{};
  return event;
}

TraceHeader TraceEventParser::header(std::string_view distributed, std::string_view devices) {
  TraceHeader header;
  object members;
  if (parser_->parse(distributed).get(members) == simdjson::SUCCESS) {
    for (const auto& [key, value] : members) {
      if (key == "rank") header.rank = count(value);
      if (key == "world_size") header.world_size = count(value);
      if (key == "backend") header.backend = text_of(value);
    }
  }
  element list;
  if (parser_->parse(devices).get(list) == simdjson::SUCCESS) {
    const auto first = entry(list, 0);
    if (first && first->get(members) == simdjson::SUCCESS) {
      for (const auto& [key, value] : members) {
        if (key == "name") header.device = text_of(value);
      }
    }
  }
  return header;
}

}  // namespace stint
