#include "driver/json.h"

#include <cstdio>

namespace driver::json {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(letter));
      out += escaped;
    } else {
      out += letter;
    }
  }
  return out + "\"";
}

std::string list(const std::vector<std::string>& elements) {
  std::string out = "[";
  for (const std::string& element : elements) {
    if (out.size() > 1) out += ',';
    out += element;
  }
  return out + "]";
}

Object& Object::text(std::string_view name, std::string_view value) { return raw(name, quoted(value)); }

Object& Object::number(std::string_view name, std::uint64_t value) {
  return raw(name, std::to_string(value));
}

Object& Object::null(std::string_view name) { return raw(name, "null"); }

Object& Object::raw(std::string_view name, std::string_view value) {
  if (body_.size() > 1) body_ += ',';
  body_ += quoted(name);
  body_ += ':';
  body_ += value;
  return *this;
}

}  // namespace driver::json
