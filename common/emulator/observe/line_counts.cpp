#include "emulator/observe/line_counts.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/counting.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/machine/memory_traffic.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/program/names.hpp"
#include "emulator/program/source_location.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace emulator {

/// The counters of one function's instructions.
struct CodeCounts {
    explicit CodeCounts(const Code& code)
        : code(&code), steps(code.instructions.size() + 1), counted(code.instructions.size()),
          ideal(code.instructions.size()) {}

    /// Instructions `first` to `first + count - 1` were each executed this many more times.
    void add_run(std::uint32_t first, std::uint32_t count, std::int64_t warps, std::int64_t threads) {
        steps[first] += {warps, threads};
        steps[first + count] += {-warps, -threads};
    }

    CodeCounts& operator+=(const CodeCounts& other) {
        for (std::size_t i = 0; i < steps.size(); ++i) steps[i] += other.steps[i];
        for (std::size_t i = 0; i < counted.size(); ++i) {
            counted[i] += other.counted[i];
            ideal[i] += other.ideal[i];
        }
        return *this;
    }

    /// Execution counts as differences from the previous instruction: a run of any length takes two
    /// additions.
    struct Step {
        std::int64_t warps = 0, threads = 0;
        Step& operator+=(Step other) {
            warps += other.warps;
            threads += other.threads;
            return *this;
        }
    };

    const Code* code;
    std::vector<Step> steps;
    std::vector<Counters> counted, ideal; ///< of each instruction, except its executions
};

namespace {

/// In a module that has lines.
bool compiled_without_lines(const Code& code) {
    return code.function->locations.empty() && !code.module->files.empty();
}

/// A function from a header of the kernel's file. It counts on the line of the call, as if the compiler had
/// inlined it. A function of another module comes from another source file.
bool is_in_header(const Code& code, const Code& kernel) {
    const SourceLocation here = function_location(code), there = function_location(kernel);
    return here && there && code.module == kernel.module && here.path != there.path;
}

/// A function that the kernel calls.
bool counts_to_call(const Code& code, const Code& kernel) {
    return compiled_without_lines(code) || is_in_header(code, kernel);
}

/// The lines of a text, for places that ascend.
class LineNumbers {
public:
    explicit LineNumbers(std::string_view text) : text_(text) {}

    std::uint32_t at(std::size_t place) {
        for (; place_ < place; ++place_) line_ += text_[place_] == '\n' ? 1 : 0;
        return line_;
    }

private:
    std::string_view text_;
    std::size_t place_ = 0;
    std::uint32_t line_ = 1;
};

class LineObserver final : public Observer {
public:
    LineObserver(const Code& kernel, std::vector<std::unique_ptr<CodeCounts>>& counts)
        : kernel_(kernel), counts_(counts) {}

    void instructions_executed(const Warp& warp, const Code& code, std::uint32_t first, std::uint32_t count,
                               LaneMask active) override {
        if (count == 0) return;
        const std::int64_t lanes = std::popcount(active);
        const Place place = charged(warp, first);
        if (place.counts.code == &code)
            place.counts.add_run(first, count, 1, lanes);
        else
            place.counts.add_run(place.index, 1, count, count * lanes);
        const Instruction& last = code.instructions[first + count - 1];
        if (last.sync == SyncKind::block_barrier)
            counted(warp, last)[Metric::thread_barriers] += static_cast<std::uint64_t>(lanes);
    }

    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override {
        if (access.is_copy) return;
        const auto [counts, index] = charged(warp, index_of(warp, instruction));
        Counters& counted = counts.counted[index];
        const Metric sectors = global_sectors(access.kind);
        const std::uint64_t before = counted[sectors];
        count_access(counted, instruction, access);
        if (access.space == ptx::Space::global)
            counts.ideal[index][sectors] += std::min(counted[sectors] - before, side_by_side(access));
    }

    void copy_started(const AsyncCopy& copy) override {
        const auto [counts, index] = charged(*copy.warp, index_of(*copy.warp, *copy.instruction));
        count_copy(counts.counted[index], copy);
        count_ideal_copy(counts.ideal[index], copy);
    }

    void diverged(const Warp& warp, const Instruction& instruction, LaneMask, LaneMask) override {
        ++counted(warp, instruction)[Metric::divergent_branches];
    }

private:
    struct Place {
        CodeCounts& counts;
        std::uint32_t index;
    };

    static std::uint32_t index_of(const Warp& warp, const Instruction& instruction) {
        return warp.running().frame->code->index_of(instruction);
    }

    /// Lanes that load or store the same bytes share them; atomics take turns.
    static std::uint64_t side_by_side(const Access& access) {
        if (access.kind == AccessKind::load || access.kind == AccessKind::store) return ideal_sectors(access);
        constexpr std::uint64_t sector_bytes = 32;
        const auto lanes = static_cast<std::uint64_t>(std::popcount(access.active));
        return (lanes * access.bytes + sector_bytes - 1) / sector_bytes;
    }

    Counters& counted(const Warp& warp, const Instruction& instruction) {
        const Place place = charged(warp, index_of(warp, instruction));
        return place.counts.counted[place.index];
    }

    /// The instruction on which `index` of the running function counts: itself, or the call that led here.
    Place charged(const Warp& warp, std::uint32_t index) {
        const Frame* frame = warp.running().frame;
        for (; frame->caller && counts_to_its_call(*frame->code); frame = frame->caller)
            index = frame->caller->code->index_of(*frame->call);
        return {counts_of(*frame->code), index};
    }

    bool counts_to_its_call(const Code& code) {
        for (const auto& [known, answer] : counts_to_call_)
            if (known == &code) return answer;
        const bool answer = counts_to_call(code, kernel_);
        return counts_to_call_.emplace_back(&code, answer).second;
    }

    CodeCounts& counts_of(const Code& code) {
        if (last_ && last_->code == &code) return *last_;
        for (const auto& known : counts_)
            if (known->code == &code) return *(last_ = known.get());
        return *(last_ = counts_.emplace_back(std::make_unique<CodeCounts>(code)).get());
    }

    const Code& kernel_;
    std::vector<std::unique_ptr<CodeCounts>>& counts_;
    CodeCounts* last_ = nullptr;
    std::vector<std::pair<const Code*, bool>> counts_to_call_; // few functions are called
};

/// The counters of each instruction, and its executions.
std::vector<LineCounts> by_instruction(const CodeCounts& counts) {
    std::vector<LineCounts> result(counts.counted.size());
    CodeCounts::Step executed;
    for (std::size_t i = 0; i < result.size(); ++i) {
        executed += counts.steps[i];
        Counters& counted = result[i].counted = counts.counted[i];
        counted[Metric::warp_instructions] += static_cast<std::uint64_t>(executed.warps);
        counted[Metric::thread_instructions] += static_cast<std::uint64_t>(executed.threads);
        Counters& ideal = result[i].ideal = counts.ideal[i];
        ideal[Metric::shared_load_wavefronts] =
            counted[Metric::shared_load_wavefronts] - counted[Metric::shared_load_bank_conflicts];
        ideal[Metric::shared_store_wavefronts] =
            counted[Metric::shared_store_wavefronts] - counted[Metric::shared_store_bank_conflicts];
    }
    return result;
}

/// Sums the instructions of each line. `line_of` maps an instruction to its line.
template <class LineOf>
std::vector<LineCounts> by_line(const std::vector<LineCounts>& instructions, LineOf line_of) {
    std::map<std::uint32_t, LineCounts> lines;
    for (std::uint32_t i = 0; i < instructions.size(); ++i) {
        const std::uint32_t line = line_of(i);
        if (line == 0) continue;
        LineCounts& sum = lines[line];
        sum.line = line;
        sum.counted += instructions[i].counted;
        sum.ideal += instructions[i].ideal;
    }
    std::vector<LineCounts> result;
    for (const auto& [number, counts] : lines) result.push_back(counts);
    return result;
}

/// The lines of `text` from that of `place` to the closing brace of the function there.
std::vector<std::string> lines_of_function(std::string_view text, std::size_t place) {
    std::size_t end = text.find('{', place);
    for (int depth = 0; end < text.size(); ++end) {
        depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
        if (depth == 0) break;
    }
    end = std::min(text.find('\n', end), text.size());
    std::vector<std::string> lines;
    for (std::size_t begin = text.rfind('\n', place) + 1; begin < end;) { // npos + 1 = 0
        const std::size_t stop = std::min(text.find('\n', begin), end);
        lines.emplace_back(text.substr(begin, stop - begin));
        begin = stop + 1;
    }
    return lines;
}

std::string function_name(const CodeCounts& counts) { return readable_name(counts.code->function->name); }

/// One list per file that the function's instructions come from: usually one.
void add_source_lines(const CodeCounts& counts, std::vector<FunctionLines>& result) {
    const std::vector<LineCounts> instructions = by_instruction(counts);
    std::vector<SourceLocation> places;
    for (std::uint32_t i = 0; i < instructions.size(); ++i)
        places.push_back(source_location(*counts.code, i));
    std::vector<std::string_view> paths;
    for (const SourceLocation& place : places)
        if (std::find(paths.begin(), paths.end(), place.path) == paths.end()) paths.push_back(place.path);
    const SourceLocation begin = function_location(*counts.code);
    for (const std::string_view path : paths) {
        FunctionLines& list = result.emplace_back();
        list.function = function_name(counts);
        list.path = path;
        list.lines = by_line(instructions,
                             [&](std::uint32_t i) { return places[i].path == path ? places[i].line : 0; });
        list.first_line = list.lines.front().line;
        if (begin && begin.path == path) list.first_line = std::min(list.first_line, begin.line);
    }
}

void add_ptx_lines(const CodeCounts& counts, std::vector<FunctionLines>& result) {
    const ptx::Function& function = *counts.code->function;
    const std::string_view text = counts.code->module->text;
    LineNumbers numbers(text);
    FunctionLines& list = result.emplace_back();
    list.function = function_name(counts);
    list.first_line = numbers.at(function.place);
    list.ptx = lines_of_function(text, function.place);
    std::uint32_t line = list.first_line;
    list.lines = by_line(by_instruction(counts), [&](std::uint32_t i) {
        if (const ptx::Statement* const statement = counts.code->statements[i])
            line = numbers.at(statement->place);
        return line;
    });
}

} // namespace

MachineLines::MachineLines(const Code& kernel, std::string_view unit) {
    const std::string_view text = kernel.module->text;
    lines_before_ = LineNumbers(text).at(static_cast<std::size_t>(unit.data() - text.data())) - 1;
    add(kernel, true);
    std::vector<const Code*> codes{&kernel};
    for (std::size_t k = 0; k < codes.size(); ++k)
        for (const Code* const callee : codes[k]->callees)
            if (std::find(codes.begin(), codes.end(), callee) == codes.end()) {
                add(*callee, !counts_to_call(*callee, kernel));
                codes.push_back(callee);
            }
}

void MachineLines::add(const Code& code, bool counts_here) {
    LineNumbers numbers(code.module->text);
    const auto add_statement = [&](std::size_t place, std::uint32_t instruction) {
        const std::uint32_t line = numbers.at(place);
        found_.try_emplace(line, counts_here ? index_of(code, instruction, line) : 0);
    };
    add_statement(code.function->place, 0); // a function's begin has machine code, too
    for (std::uint32_t i = 0; i < code.statements.size(); ++i)
        if (code.statements[i]) add_statement(code.statements[i]->place, i);
}

std::uint32_t MachineLines::index_of(const Code& code, std::uint32_t instruction, std::uint32_t line_of_ptx) {
    const SourceLocation source = source_location(code, instruction);
    CodeLine line{.function = readable_name(code.function->name),
                  .path = std::string(source.path),
                  .line = source ? source.line : line_of_ptx};
    const auto known = std::find(lines_.begin(), lines_.end(), line);
    const auto index = static_cast<std::uint32_t>(known - lines_.begin());
    if (known == lines_.end()) lines_.push_back(std::move(line));
    return index;
}

std::uint32_t MachineLines::find(std::uint32_t line_of_unit) const {
    const auto after = found_.upper_bound(line_of_unit + lines_before_);
    return line_of_unit == 0 || after == found_.begin() ? 0 : std::prev(after)->second;
}

LineCounting::LineCounting() = default;
LineCounting::~LineCounting() = default;

std::unique_ptr<Observer> LineCounting::observer(const Grid& grid) {
    kernel_ = &grid.kernel.code();
    return std::make_unique<LineObserver>(*kernel_, counts_.emplace_back());
}

std::vector<FunctionLines> LineCounting::functions() const {
    const auto by_place = [this](const Code* a, const Code* b) {
        if (a == b || b == kernel_) return false;
        return a == kernel_ || a->function->place < b->function->place;
    };
    std::map<const Code*, CodeCounts, decltype(by_place)> sums(by_place);
    for (const ThreadCounts& thread : counts_)
        for (const auto& counts : thread)
            sums.try_emplace(counts->code, *counts->code).first->second += *counts;
    std::vector<FunctionLines> result;
    for (const auto& [code, counts] : sums) {
        if (source_location(*code, 0))
            add_source_lines(counts, result);
        else
            add_ptx_lines(counts, result);
    }
    return result;
}

} // namespace emulator
