#include "load/yaml.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <sstream>
#include <utility>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/text.h"

namespace stint {
namespace {

/// The library counts from 0, and has no place for some errors.
TextPlace place_of(const YAML::Mark& mark) {
  return {.line = std::max(0, mark.line) + 1, .column = std::max(0, mark.column) + 1};
}

/// Builds a Yaml of the library's events. The parser cannot be stopped by its handler, so that what
/// follows the first problem is ignored; the size of the text limits that.
class Builder final : public YAML::EventHandler {
 public:
  struct Problem {
    TextPlace place;
    std::string message;
  };

  const std::optional<Problem>& problem() const { return problem_; }
  Yaml take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (allowed(mark, "?", anchor)) put({.kind = Yaml::Kind::kNull, .place = place_of(mark)});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse(place_of(mark), "aliases (*name) are not supported; repeat the value");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!allowed(mark, tag, anchor)) return;
    put({.kind = Yaml::Kind::kText, .place = place_of(mark), .text = value});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    if (allowed(mark, tag, anchor)) open(Yaml::Kind::kList, place_of(mark));
  }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    if (allowed(mark, tag, anchor)) open(Yaml::Kind::kMapping, place_of(mark));
  }

  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  /// A list or mapping that is not complete yet.
  struct Open {
    Yaml value;
    std::optional<YamlMember> member = {};  // Whose value comes next.
  };

  void refuse(TextPlace place, std::string message) {
    if (!problem_) problem_ = Problem{place, std::move(message)};
  }

  /// Whether the value may stand here. Plain scalars have the tag "?", quoted ones "!".
  bool allowed(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) {
      refuse(place_of(mark), "anchors (&name) are not supported; repeat the value");
    } else if (!tag.empty() && tag != "?" && tag != "!") {
      refuse(place_of(mark), "tags (!name) are not supported");
    } else if (++values_ > kYamlValuesMax) {
      refuse(place_of(mark), fmt::format("more than {} values", kYamlValuesMax));
    }
    return !problem_;
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().value.kind == Yaml::Kind::kMapping &&
           !open_.back().member;
  }

  void open(Yaml::Kind kind, TextPlace place) {
    if (expects_key()) return refuse(place, "a key must be a plain text");
    if (open_.size() >= kYamlDepthMax) {
      return refuse(place, fmt::format("nested deeper than {} levels", kYamlDepthMax));
    }
    open_.push_back({.value = {.kind = kind, .place = place}});
  }

  void close() {
    if (problem_) return;
    Yaml complete = std::move(open_.back().value);
    open_.pop_back();
    put(std::move(complete));
  }

  void put(Yaml value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    if (parent.value.kind == Yaml::Kind::kList) {
      parent.value.items.push_back(std::move(value));
    } else if (parent.member) {
      parent.member->value = std::move(value);
      parent.value.members.push_back(std::move(*parent.member));
      parent.member.reset();
    } else {
      take_key(parent, std::move(value));
    }
  }

  void take_key(Open& parent, Yaml key) {
    if (key.kind != Yaml::Kind::kText) return refuse(key.place, "a key must be a plain text");
    for (const YamlMember& other : parent.value.members) {
      if (other.key != key.text) continue;
      return refuse(key.place, fmt::format("the key '{}' stands twice, first in line {}",
                                           printable(key.text), other.place.line));
    }
    parent.member = YamlMember{.key = std::move(key.text), .place = key.place, .value = {}};
  }

  Yaml root_;
  std::vector<Open> open_;
  std::size_t values_ = 0;
  std::optional<Problem> problem_;
};

/// The place of the byte `offset` of `text`.
TextPlace place_at(std::string_view text, std::size_t offset) {
  TextPlace place;
  for (const char c : text.substr(0, offset)) {
    place.column = c == '\n' ? 1 : place.column + 1;
    place.line += c == '\n' ? 1 : 0;
  }
  return place;
}

Error problem_at(const std::string& source, const TextPlace& place, std::string_view message) {
  return bad_input(fmt::format("{}: {}", to_text(source, place), message));
}

/// The library would read UTF-16 too, and takes some control characters for the end of the text.
Status check_bytes(std::string_view text, const std::string& source) {
  if (text.size() > kYamlBytesMax) {
    return bad_input(fmt::format("{} has {} bytes, more than the {} of a file that a person writes",
                                 source, text.size(), kYamlBytesMax));
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool control = (c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t') || c == '\x7f';
    if (control) return problem_at(source, place_at(text, i), "a control character");
  }
  if (!is_utf8(text)) return bad_input(fmt::format("{} is not UTF-8 text", source));
  return {};
}

}  // namespace

std::string to_text(const std::string& source, const TextPlace& place) {
  return fmt::format("{}:{}:{}", source, place.line, place.column);
}

const char* Yaml::name() const {
  switch (kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kText:
      return "a single value";
    case Kind::kList:
      return "a list";
    case Kind::kMapping:
      return "a mapping";
  }
  return "";
}

Result<Yaml> parse_yaml(std::string_view text, const std::string& source) {
  const Status bytes = check_bytes(text, source);
  if (!bytes.ok()) return bytes.error();
  Builder builder;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    const bool any = parser.HandleNextDocument(builder);
    Builder second;
    if (any && !builder.problem() && parser.HandleNextDocument(second)) {
      return bad_input(fmt::format("{} holds more than one YAML document", source));
    }
  } catch (const YAML::Exception& error) {
    // What was found before is nearer to what is wrong.
    if (!builder.problem()) {
      return problem_at(source, place_of(error.mark),
                        fmt::format("invalid YAML: {}", printable(error.msg)));
    }
  }
  if (builder.problem()) {
    return problem_at(source, builder.problem()->place, builder.problem()->message);
  }
  return builder.take();
}

}  // namespace stint
