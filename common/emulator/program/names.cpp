#include "emulator/program/names.hpp"

#include <cstdlib>
#include <cxxabi.h>

namespace emulator {

std::string readable_name(const std::string& mangled) {
    if (!mangled.starts_with("_Z")) return mangled; // else the variable `c` would be the type `char`
    int status = 0;
    char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    std::string result = status == 0 ? text : mangled;
    std::free(text);
    return result;
}

std::string short_name(const std::string& readable_name) {
    // The parameters begin at the last '(' outside other brackets. A function with its return type in front
    // is a template.
    int depth = 0;
    std::size_t first = 0, last = readable_name.size();
    for (std::size_t i = 0; i < readable_name.size(); ++i) {
        const char c = readable_name[i];
        if (c == '(' && depth == 0) last = i;
        if (c == '<' || c == '(') ++depth;
        if (c == '>' || c == ')') --depth;
        if (c == ' ' && depth == 0 && last == readable_name.size()) first = i + 1;
    }
    return readable_name.substr(first, last - first);
}

std::string variable_name(std::string_view mangled) {
    const std::string name = readable_name(std::string(mangled));
    const std::size_t colons = name.rfind("::");
    return colons == std::string::npos ? name : name.substr(colons + 2);
}

} // namespace emulator
