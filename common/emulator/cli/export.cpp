#include "emulator/cli/report_forms.hpp"

#include "emulator/cli/exit_status.hpp"
#include "emulator/cli/program.hpp"
#include "emulator/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace emulate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view place_of_launches = "/* launches */ {}"; // in the page without them

CommandError not_exported(const std::string& why) { return {ExitStatus::failed, "--export: " + why}; }

/// Calls `visit(path, first, length)` for each file that the line table of this PTX names, and where its path
/// is.
template <class Visit> void for_each_file(std::string_view ptx, Visit visit) {
    for (std::size_t line = 0; line < ptx.size();) {
        const std::size_t end = std::min(ptx.find('\n', line), ptx.size());
        const std::size_t word = std::min(ptx.find_first_not_of(" \t", line), end);
        if (ptx.substr(word, end - word).starts_with(".file")) {
            const std::size_t first = ptx.find('"', word) + 1, last = ptx.find('"', first);
            if (first != 0 && last < end)
                visit(std::string(ptx.substr(first, last - first)), first, last - first);
        }
        line = end + 1;
    }
}

/// Whether it belongs to the system or to the CUDA toolkit: who gets the page has those as well.
bool comes_from_outside(const fs::path& path) {
    if (path.string().starts_with("/usr/")) return true;
    std::error_code unknown;
    for (fs::path folder = path.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
        if (fs::exists(folder / "cuda_runtime.h", unknown)) return true;
    return false;
}

/// The folder around both.
fs::path common_folder(const fs::path& a, const fs::path& b) {
    fs::path common;
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end() && *i == *j; ++i, ++j) common /= *i;
    return common;
}

/// The program's source files, and the paths to show: a page that is passed on says nothing of this machine's
/// folders.
struct ExportedSources {
    std::map<std::string, std::string> shown{}; ///< by path in PTX
    Json texts = Json::object();                ///< by shown path
    std::set<std::string> newer{};              ///< than the program

    ExportedSources(const std::vector<std::string>& modules, const ReadSource& read_source) {
        std::map<std::string, SourceFile> own;
        fs::path common;
        for (const std::string& ptx : modules)
            for_each_file(ptx, [&](const std::string& path, std::size_t, std::size_t) {
                const std::size_t include = path.rfind("/include/");
                if (!shown
                         .try_emplace(path, include == std::string::npos ? fs::path(path).filename().string()
                                                                         : path.substr(include + 1))
                         .second)
                    return;
                auto file = comes_from_outside(path) ? std::nullopt : read_source(path);
                if (!file) return;
                const fs::path folder = fs::path(path).lexically_normal().parent_path();
                common = own.empty() ? folder : common_folder(common, folder);
                own.emplace(path, std::move(*file));
            });
        for (const auto& [path, file] : own) {
            shown[path] = fs::path(path).lexically_normal().lexically_relative(common).string();
            texts[shown[path]] = fmt::format("{}\n", fmt::join(file.lines, "\n"));
            if (file.is_newer_than_program) newer.insert(shown[path]);
        }
    }

    std::string with_shown_paths(const std::string& ptx) const {
        std::string result;
        std::size_t copied = 0;
        for_each_file(ptx, [&](const std::string& path, std::size_t first, std::size_t length) {
            result += ptx.substr(copied, first - copied) + shown.at(path);
            copied = first + length;
        });
        return result + ptx.substr(copied);
    }
};

} // namespace

std::string page_without_launches() {
    const fs::path path = emulator_library().folder / "export.html";
    std::ifstream file(path, std::ios::binary);
    std::string page(std::istreambuf_iterator<char>(file), {});
    if (page.find(place_of_launches) == std::string::npos)
        throw not_exported(fmt::format(
            "{} is missing, which pages are made of: type make playground in the tutorial's folder, and, if "
            "emulate is installed, install it again",
            path.string()));
    return page;
}

ExportedPage export_page(const Report& report, const ReadSource& read_source) {
    Json launches = Json::array(), pieces = Json::array();
    std::vector<std::string> modules;
    std::set<Json> processes;
    for (Json record : report.replays) {
        if (record.contains("refusal")) throw not_exported(record.at("refusal"));
        processes.insert(record.at("process"));
        for (const auto& [number, ptx] : record.at("modules").items()) modules.push_back(ptx);
        for (Json& piece : record.at("pieces")) pieces.push_back(std::move(piece));
        for (const char* const member : {"process", "modules", "pieces"}) record.erase(member);
        launches.push_back(std::move(record));
    }
    if (launches.empty()) throw not_exported("no launch came to its end, so there is nothing to run again");
    if (processes.size() > 1)
        throw not_exported("several processes launch kernels, and a page has room for the memory of one");

    const ExportedSources sources(modules, read_source);
    Json texts = Json::array();
    for (const std::string& ptx : modules) texts.push_back(sources.with_shown_paths(ptx));
    const std::size_t count = launches.size();
    Json facts = Json::object();
    facts["program"] = fs::path(report.program.front()).filename().string();
    facts["launches"] = std::move(launches);
    facts["modules"] = std::move(texts);
    facts["pieces"] = std::move(pieces);
    facts["sources"] = sources.texts;

    std::string page = page_without_launches();
    std::string json = facts.dump(-1, ' ', false, Json::error_handler_t::replace);
    for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;) // which might end the script
        json.replace(at, 1, "\\u003c");
    page.replace(page.find(place_of_launches), place_of_launches.size(), json);

    std::string about = fmt::format("{} launch{}, {:.1f} MB", count, count == 1 ? "" : "es",
                                    static_cast<double>(page.size()) / 1e6);
    if (sources.texts.empty()) about += "\nCompile with nvcc -lineinfo to see lines of the source.";
    for (const std::string& path : sources.newer)
        about += fmt::format("\n{} is newer than the program: its lines may have moved.", path);
    return {std::move(page), std::move(about)};
}

} // namespace emulate
