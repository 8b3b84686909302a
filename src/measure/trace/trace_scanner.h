#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace stint {

/// No event of a profiler is larger; a larger one must be a mistake.
inline constexpr Bytes kLargestEvent = 64 * kMiB;

/// Cuts the events of a Chrome or Kineto trace out of a stream of chunks: an array of objects, or
/// an object that holds one as "traceEvents", with any other members before and after it. It holds
/// one event at most, however long the trace is. It looks at strings and brackets only; whether an
/// event is good JSON is for its parser to say.
class TraceScanner {
 public:
  /// Takes the text of one event, which is gone afterwards; an error stops the scan.
  using Sink = std::function<Status(std::string_view event)>;

  /// `source` names the file in errors.
  TraceScanner(std::string source, Sink sink);

  /// Goes on with the next bytes. After an error nothing more may be pushed.
  Status push(std::string_view chunk);

  /// Says whether the trace was whole; where it broke off if not.
  Status finish() const;

  std::size_t events() const { return events_; }

  /// Texts of the top-level members beside the events, as far as they are small.
  const std::map<std::string, std::string>& members() const { return members_; }

 private:
  /// What is expected next, white space aside.
  enum class Place {
    kStart,
    kKey,         // A key, or the end of the object.
    kColon,       // What stands between a key and its value.
    kValue,       // A value of the object.
    kAfterValue,  // A comma, or the end of the object.
    kElement,     // An event, or the end of the array.
    kAfterEvent,  // A comma, or the end of the array.
    kInside,      // The rest of a key, value or event.
    kEnd,         // Nothing.
  };
  enum class Item { kKey, kMember, kEvent };

  Status step(std::string_view chunk);
  Status step_start(char c);
  Status step_object(char c);
  Status step_events(char c);
  void begin_item(Item item, char c);
  bool skip_string(std::string_view chunk);
  bool skip_item(std::string_view chunk);
  bool skip_nested(std::string_view chunk);
  Status end_item(std::string_view text);
  Status keep_rest(std::string_view text);
  Error wrong(const std::string& what) const;
  Error broken_off() const;

  std::string source_;
  Sink sink_;
  Place place_ = Place::kStart;
  Item item_ = Item::kEvent;
  bool bare_ = false;  // The events are the whole document.
  bool found_events_ = false;
  std::size_t at_ = 0;      // In the chunk.
  std::size_t begin_ = 0;   // Of the item, in the chunk.
  std::size_t passed_ = 0;  // Bytes of earlier chunks.
  std::size_t events_ = 0;
  int depth_ = 0;  // Of brackets inside the item.
  bool in_string_ = false;
  bool escaped_ = false;
  bool too_large_ = false;  // The member is not kept.
  std::string pending_;     // The item's bytes of earlier chunks.
  std::string key_;
  std::map<std::string, std::string> members_;
};

}  // namespace stint
