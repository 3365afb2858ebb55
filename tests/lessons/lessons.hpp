/// The lessons, for tests that hold for each of them.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/// "lesson00", "lesson01", … Known before any test runs, also where there is no source tree.
inline std::vector<std::string> lessons() {
    std::istringstream names(LESSONS);
    std::vector<std::string> result;
    for (std::string name; names >> name;) result.push_back(name);
    return result;
}

/// The contents of a lesson's lesson.json. \param lesson "lesson03"
inline nlohmann::json manifest_of(const std::string& lesson) {
    for (const auto& entry : std::filesystem::directory_iterator(PROJECT_ROOT "/lessons"))
        if (entry.path().filename().string().rfind(lesson + "_", 0) == 0)
            return nlohmann::json::parse(std::ifstream(entry.path() / "course/lesson.json"));
    throw std::runtime_error("there is no folder of " + lesson);
}
