#include "measure/trace/trace_scanner.h"

#include <array>
#include <fmt/format.h>
#include <utility>

#include "base/text.h"

namespace stint {
namespace {

// Members that say something of the whole trace are short; stacks and names of modules are not.
constexpr std::size_t kMemberBytesMax = 65536;
constexpr std::size_t kMembersMax = 64;

/// The bytes that matter between strings.
constexpr std::array<bool, 256> structural_bytes() {
  std::array<bool, 256> table{};
  for (const char c : {'{', '}', '[', ']', '"'}) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> kStructural = structural_bytes();

bool is_structural(char c) { return kStructural[static_cast<unsigned char>(c)]; }
bool opens(char c) { return c == '{' || c == '['; }

}  // namespace

TraceScanner::TraceScanner(std::string source, Sink sink)
    : source_(std::move(source)), sink_(std::move(sink)) {}

Error TraceScanner::wrong(const std::string& what) const {
  return bad_input(fmt::format("{}: byte {}: {}", source_, passed_ + at_ + 1, what));
}

Status TraceScanner::push(std::string_view chunk) {
  at_ = 0;
  begin_ = 0;
  if (passed_ == 0 && place_ == Place::kStart && chunk.starts_with(kByteOrderMark)) {
    at_ = kByteOrderMark.size();
  }
  while (at_ < chunk.size()) {
    const Status status = step(chunk);
    if (!status.ok()) return status;
  }
  if (place_ == Place::kInside) {
    const Status status = keep_rest(chunk.substr(begin_));
    if (!status.ok()) return status;
  }
  passed_ += chunk.size();
  at_ = 0;
  return {};
}

/// Takes one byte between items, or as much of an item as the chunk has.
Status TraceScanner::step(std::string_view chunk) {
  if (place_ == Place::kInside) {
    if (!skip_item(chunk)) return {};
    return end_item(chunk.substr(begin_, at_ - begin_));
  }
  const char c = chunk[at_];
  if (is_space(c)) {
    ++at_;
    return {};
  }
  Status status;
  switch (place_) {
    case Place::kStart:
      status = step_start(c);
      break;
    case Place::kElement:
    case Place::kAfterEvent:
      status = step_events(c);
      break;
    case Place::kEnd:
      return wrong("unexpected data after the end of the trace");
    default:
      status = step_object(c);
  }
  if (!status.ok()) return status;
  ++at_;
  return {};
}

Status TraceScanner::step_start(char c) {
  if (!opens(c)) return wrong("not a JSON trace, which starts with '{' or '['");
  bare_ = c == '[';
  found_events_ = bare_;
  place_ = bare_ ? Place::kElement : Place::kKey;
  return {};
}

Status TraceScanner::step_object(char c) {
  if (place_ == Place::kKey && c == '"') {
    begin_item(Item::kKey, c);
  } else if (place_ == Place::kColon && c == ':') {
    place_ = Place::kValue;
  } else if (place_ == Place::kValue && key_ == "traceEvents") {
    if (c != '[') return wrong("traceEvents must be an array");
    if (found_events_) return wrong("traceEvents appears twice in the trace");
    found_events_ = true;
    place_ = Place::kElement;
  } else if (place_ == Place::kValue) {
    begin_item(Item::kMember, c);
  } else if (place_ == Place::kAfterValue && c == ',') {
    place_ = Place::kKey;
  } else if (c == '}' && (place_ == Place::kKey || place_ == Place::kAfterValue)) {
    place_ = Place::kEnd;
  } else {
    return wrong("invalid JSON; the file may be damaged");
  }
  return {};
}

Status TraceScanner::step_events(char c) {
  // A comma before the end is left by some writers.
  if (c == ']') {
    place_ = bare_ ? Place::kEnd : Place::kAfterValue;
  } else if (place_ == Place::kElement && c == '{') {
    begin_item(Item::kEvent, c);
  } else if (place_ == Place::kElement) {
    return wrong(fmt::format("not a trace: element {} is not an object", events_ + 1));
  } else if (c == ',') {
    place_ = Place::kElement;
  } else {
    return wrong(fmt::format("no comma after event {}; the file may be damaged", events_));
  }
  return {};
}

void TraceScanner::begin_item(Item item, char c) {
  item_ = item;
  place_ = Place::kInside;
  begin_ = at_;
  depth_ = opens(c) ? 1 : 0;
  in_string_ = c == '"';
  escaped_ = false;
  too_large_ = false;
  pending_.clear();
}

/// Goes behind the end of the string; false when the chunk ends first.
bool TraceScanner::skip_string(std::string_view chunk) {
  const char* const bytes = chunk.data();
  std::size_t i = at_;
  if (escaped_ && i < chunk.size()) {
    escaped_ = false;
    ++i;
  }
  while (i < chunk.size() && bytes[i] != '"') {
    // The byte behind a backslash may stand in the next chunk.
    if (bytes[i] == '\\' && ++i == chunk.size()) {
      escaped_ = true;
      break;
    }
    ++i;
  }
  in_string_ = i >= chunk.size();
  at_ = in_string_ ? chunk.size() : i + 1;
  return !in_string_;
}

/// Goes behind the end of the item; false when the chunk ends first.
bool TraceScanner::skip_item(std::string_view chunk) {
  if (in_string_) {
    if (!skip_string(chunk)) return false;
    if (depth_ == 0) return true;
  }
  if (depth_ > 0) return skip_nested(chunk);
  // A number or a word ends where something else begins.
  while (at_ < chunk.size()) {
    const char c = chunk[at_];
    if (c == ',' || c == '}' || c == ']' || is_space(c)) return true;
    ++at_;
  }
  return false;
}

bool TraceScanner::skip_nested(std::string_view chunk) {
  const char* const bytes = chunk.data();
  while (at_ < chunk.size()) {
    const char c = bytes[at_++];
    if (!is_structural(c)) continue;
    if (c == '"') {
      in_string_ = true;
      if (!skip_string(chunk)) return false;
      continue;
    }
    depth_ += opens(c) ? 1 : -1;
    if (depth_ == 0) return true;
  }
  return false;
}

/// Keeps the bytes of an item that goes on in the next chunk.
Status TraceScanner::keep_rest(std::string_view text) {
  if (item_ != Item::kEvent) {
    too_large_ = too_large_ || pending_.size() + text.size() > kMemberBytesMax;
    if (too_large_) return {};
  }
  pending_.append(text);
  if (static_cast<double>(pending_.size()) > kLargestEvent.in(kByte)) {
    return wrong(fmt::format("event {} is larger than {:g} MiB; the file may be damaged",
                             events_ + 1, kLargestEvent.in(kMiB)));
  }
  return {};
}

Status TraceScanner::end_item(std::string_view text) {
  std::string_view whole = text;
  if (!pending_.empty() || too_large_) {
    const Status status = keep_rest(text);
    if (!status.ok()) return status;
    whole = pending_;
  }
  if (item_ == Item::kEvent) {
    ++events_;
    place_ = Place::kAfterEvent;
    return sink_(whole);
  }
  if (item_ == Item::kKey) {
    // Escapes stay as they are: no key we look for has one.
    key_ = too_large_ ? std::string() : std::string(whole.substr(1, whole.size() - 2));
    place_ = Place::kColon;
    return {};
  }
  if (!too_large_ && whole.size() <= kMemberBytesMax && members_.size() < kMembersMax) {
    members_.insert_or_assign(key_, std::string(whole));
  }
  place_ = Place::kAfterValue;
  return {};
}

Error TraceScanner::broken_off() const {
  const bool inside = place_ == Place::kInside && item_ == Item::kEvent;
  const std::string where = inside ? fmt::format("inside event {}", events_ + 1)
                                   : fmt::format("after {}", counted(events_, "whole event"));
  return bad_input(
      fmt::format("{}: the file ends at byte {}, {}; it is truncated, so take the trace again or "
                  "copy the whole file",
                  source_, passed_, where));
}

Status TraceScanner::finish() const {
  if (place_ == Place::kStart) {
    return bad_input(fmt::format("{}: the file is empty; take the trace again", source_));
  }
  if (place_ != Place::kEnd) return broken_off();
  if (!found_events_) {
    return bad_input(fmt::format(
        "{}: JSON but not a trace: it has no traceEvents; give a file that torch.profiler exported",
        source_));
  }
  return {};
}

}  // namespace stint
