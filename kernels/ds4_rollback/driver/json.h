// Writing JSON: just what the records need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace driver::json {

/// A string with its quotes.
std::string quoted(std::string_view text);

/// `[a,b]` of elements that are JSON already.
std::string list(const std::vector<std::string>& elements);

/// An object that grows field by field, in the order of the calls.
class Object {
 public:
  Object& text(std::string_view name, std::string_view value);
  Object& number(std::string_view name, std::uint64_t value);
  Object& null(std::string_view name);
  /// A field whose value is JSON already.
  Object& raw(std::string_view name, std::string_view value);

  std::string done() const { return body_ + "}"; }

 private:
  std::string body_ = "{";
};

}  // namespace driver::json
