/// What a `{ … }` block of a function declares.
#pragma once

#include "emulator/ptx/module.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace emulator::ptx {

/// Inner blocks see the names of outer ones.
struct Scope {
    const Scope* outer = nullptr;
    std::unordered_map<std::string_view, std::uint32_t> registers; ///< index in Function::registers
    std::unordered_map<std::string_view, const Variable*> variables;
    std::unordered_map<std::string_view, std::uint32_t> labels; ///< index of the statement that follows

    std::optional<std::uint32_t> find_register(std::string_view name) const {
        return find(&Scope::registers, name);
    }
    const Variable* find_variable(std::string_view name) const {
        return find(&Scope::variables, name).value_or(nullptr);
    }
    std::optional<std::uint32_t> find_label(std::string_view name) const {
        return find(&Scope::labels, name);
    }

private:
    template <class T>
    std::optional<T> find(std::unordered_map<std::string_view, T> Scope::*names,
                          std::string_view name) const {
        for (const Scope* scope = this; scope; scope = scope->outer)
            if (const auto found = (scope->*names).find(name); found != (scope->*names).end())
                return found->second;
        return std::nullopt;
    }
};

} // namespace emulator::ptx
