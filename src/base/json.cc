#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "base/text.h"

namespace stint {
namespace {

constexpr std::size_t kMaxDepth = 64;

/// Scans the text and counts lines, so that values know their location.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** position) : at_(at), position_(position) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    *position_ = at_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** position_;
};

/// Receives nlohmann's parse events and builds a Json.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string_view text, const char** position, int first_line, std::size_t values_max)
      : values_max_(values_max), scanned_(text.data()), position_(position), line_(first_line) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(std::int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) return put(static_cast<double>(value));
    return put(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return fail("binary data"); }
  bool start_object(std::size_t /*size*/) override { return open(Json::Object{}); }
  bool start_array(std::size_t /*size*/) override { return open(Json::Array{}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const bool fresh = seen_.back().insert(name).second;
    keys_.back() = std::move(name);
    if (!fresh) return fail("this key appears twice in one object");
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& token,
                   const nlohmann::json::exception& exception) override {
    const std::string what = exception.what();
    if (what.find("number overflow") != std::string::npos) {
      return fail(fmt::format("the number {} is too large", printable(token)));
    }
    if (what.find("unexpected end of input") != std::string::npos) {
      return fail("the file ends in the middle of a value; it may be truncated");
    }
    if (what.find("UTF-8") != std::string::npos) return fail("the text is not UTF-8");
    constexpr std::size_t kShown = 12;  // The error is at the end of the text read so far.
    const std::size_t cut = token.size() > kShown ? token.size() - kShown : 0;
    return fail(fmt::format("invalid JSON near '{}'", printable(token.substr(cut))));
  }

  /// The line of the token just read. The reader has read one character past a number, so that a
  /// newline there does not count.
  int line() {
    const char* end = *position_;
    if (end > scanned_ && end[-1] == '\n') --end;
    line_ += static_cast<int>(std::count(scanned_, std::max(scanned_, end), '\n'));
    scanned_ = std::max(scanned_, end);
    return line_;
  }

  /// The location of the value being read.
  std::string pointer() const {
    std::vector<std::string> path;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const auto* array = open_[i].as<Json::Array>();
      const bool started = array != nullptr || !keys_[i].empty();
      if (started) path.push_back(array != nullptr ? std::to_string(array->size()) : keys_[i]);
    }
    return json_pointer(path);
  }

  const std::string& problem() const { return problem_; }
  Json take() { return std::move(root_); }

 private:
  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  bool count() {
    if (++values_ <= values_max_) return true;
    return fail(fmt::format("the document has more than {} values; split it", values_max_));
  }

  bool open(Json::Value empty) {
    if (!count()) return false;
    if (open_.size() >= kMaxDepth) return fail("values are nested too deeply");
    open_.emplace_back(std::move(empty), line());
    keys_.emplace_back();
    seen_.emplace_back();
    return true;
  }

  bool close() {
    Json done = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    seen_.pop_back();
    return attach(std::move(done));
  }

  bool put(Json::Value value) { return count() && attach(Json(std::move(value), line())); }

  bool attach(Json json) {
    if (open_.empty()) {
      root_ = std::move(json);
    } else if (auto* array = open_.back().as<Json::Array>()) {
      array->push_back(std::move(json));
    } else {
      open_.back().as<Json::Object>()->emplace_back(std::move(keys_.back()), std::move(json));
      keys_.back().clear();
    }
    return true;
  }

  std::vector<Json> open_;
  std::vector<std::string> keys_;                      // Keys of the value being read, by level.
  std::vector<std::unordered_set<std::string>> seen_;  // Keys so far, by level.
  Json root_;
  std::string problem_;
  std::size_t values_ = 0;
  std::size_t values_max_;
  const char* scanned_;
  const char** position_;
  int line_;
};

/// Writes in the style of STYLE: floats so that they read back exactly, UTF-8 left as it is.
class Printer {
 public:
  explicit Printer(JsonStyle style) : style_(style) {}

  std::string text() && { return std::move(text_); }

  void print(const Json& json, int depth) {
    if (const auto* array = json.as<Json::Array>()) {
      print_list(*array, depth, '[', ']', [&](const Json& item) { print(item, depth + 1); });
    } else if (const auto* object = json.as<Json::Object>()) {
      print_list(*object, depth, '{', '}', [&](const Json::Member& member) {
        print_string(member.first);
        text_ += style_ == JsonStyle::kLine ? ":" : ": ";
        print(member.second, depth + 1);
      });
    } else {
      print_scalar(json);
    }
  }

 private:
  static bool nested(const Json& json) {
    return json.as<Json::Array>() != nullptr || json.as<Json::Object>() != nullptr;
  }
  static bool nested(const Json::Member& member) { return nested(member.second); }

  template <class List, class PrintItem>
  void print_list(const List& list, int depth, char open, char close, PrintItem print_item) {
    const bool broken =
        style_ == JsonStyle::kPretty &&
        std::any_of(list.begin(), list.end(), [](const auto& item) { return nested(item); });
    text_ += open;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) text_ += ',';
      if (broken) {
        new_line(depth + 1);
      } else if (i > 0 && style_ == JsonStyle::kPretty) {
        text_ += ' ';
      }
      print_item(list[i]);
    }
    if (broken) new_line(depth);
    text_ += close;
  }

  void new_line(int depth) {
    text_ += '\n';
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
  }

  void print_scalar(const Json& json) {
    if (const auto* text = json.as<std::string>()) return print_string(*text);
    if (const auto* number = json.as<double>()) return print_number(*number);
    if (const auto* number = json.as<std::int64_t>()) {
      text_ += fmt::format("{}", *number);
    } else if (const auto* boolean = json.as<bool>()) {
      text_ += *boolean ? "true" : "false";
    } else {
      text_ += "null";
    }
  }

  /// A whole floating-point number keeps a ".0", so that it stays one when read back.
  void print_number(double number) {
    CHECK(std::isfinite(number));
    std::string digits = fmt::format("{}", number);
    if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
    text_ += digits;
  }

  void print_string(std::string_view text) {
    text_ += '"';
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else if (c == '\n') {
        text_ += "\\n";
      } else if (byte < 0x20 || byte == 0x7F) {
        text_ += fmt::format("\\u{:04x}", byte);
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }

  JsonStyle style_;
  std::string text_;
};

}  // namespace

Json::Json() = default;
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

bool Json::operator==(const Json& other) const { return value_ == other.value_; }

const Json* Json::find(std::string_view name) const {
  const auto* object = as<Object>();
  if (object == nullptr) return nullptr;
  for (const auto& [key, value] : *object) {
    if (key == name) return &value;
  }
  return nullptr;
}

void Json::add(std::string name, Json value) {
  if (as<std::nullptr_t>() != nullptr) value_ = Object{};
  auto* object = as<Object>();
  CHECK(object != nullptr);
  object->emplace_back(std::move(name), std::move(value));
}

const char* Json::kind() const {
  constexpr const char* kKinds[] = {"null",   "true or false", "a whole number", "a number",
                                    "a text", "a list",        "an object"};
  return kKinds[value_.index()];
}

std::string json_pointer(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& segment : path) {
    text += '/';
    for (const char c : segment) {
      if (c == '~') {
        text += "~0";
      } else if (c == '/') {
        text += "~1";
      } else {
        text += c;
      }
    }
  }
  return text;
}

Result<Json> parse_json(std::string_view text, const std::string& source, int first_line,
                        std::size_t values_max) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (trim(text).empty()) return bad_input(fmt::format("{}: the file is empty", source));
  const char* position = text.data();
  Builder builder(text, &position, first_line, values_max);
  const CountingIterator first(text.data(), &position);
  const CountingIterator last(text.data() + text.size(), &position);
  if (!nlohmann::json::sax_parse(first, last, &builder)) {
    const std::string pointer = printable(builder.pointer());
    return bad_input(fmt::format("{}:{}: {}{}{}", source, builder.line(), pointer,
                                 pointer.empty() ? "" : ": ", builder.problem()));
  }
  return builder.take();
}

Result<Json> parse_json(std::string_view text, const std::string& source, int first_line) {
  return parse_json(text, source, first_line, kJsonValuesMax);
}

std::string to_text(const Json& json, JsonStyle style) {
  Printer printer(style);
  printer.print(json, 0);
  return std::move(printer).text();
}

}  // namespace stint
