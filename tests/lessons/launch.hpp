/// The counters of one launch, as a lesson prints them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "test_device.hpp"

/// What a lesson's only kernel did on the emulator, as JSON has it.
class Launch {
public:
    Launch(const std::string& lesson, const std::string& kernel, const std::string& arguments) {
        const ProgramResult result =
            run_program("./" + lesson + " --device emulator --format json --kernel " + kernel + arguments);
        EXPECT_EQ(result.status, 0) << result.err;
        json_ = nlohmann::json::parse(result.out)["kernels"][0];
    }

    std::uint64_t blocks() const { return json_["grid"][0]; }
    std::uint64_t counter(const std::string& name) const { return json_["counters"].at(name + ".sum"); }

    std::uint64_t sectors(const char* operation) const {
        return counter(std::string("l1tex__t_sectors_pipe_lsu_mem_global_op_") + operation);
    }
    std::uint64_t requests(const char* operation) const {
        return counter(std::string("l1tex__t_requests_pipe_lsu_mem_global_op_") + operation);
    }
    std::uint64_t wavefronts(const char* operation) const {
        return counter(std::string("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_") + operation);
    }
    std::uint64_t conflicts(const char* operation) const {
        return counter(std::string("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_") + operation);
    }

private:
    nlohmann::json json_;
};

inline std::string arguments(std::uint64_t n, unsigned int block, unsigned int offset = 0) {
    return " --n " + std::to_string(n) + " --block " + std::to_string(block) +
           (offset > 0 ? " --offset " + std::to_string(offset) : "");
}

/// At how many branches a warp splits, for 2^20 ints in blocks of 256.
struct Splits {
    const char* lesson;
    const char* kernel;
    std::uint64_t expected;
};

void expect_divergence(std::initializer_list<Splits> cases);

/// `program` ends with status 0 with each of `arguments`.
void expect_success(const std::string& program, std::initializer_list<const char*> arguments);

/// No checker finds anything in two runs of the lesson with each of `arguments`, between blocks neither.
void expect_clean_between_blocks(const std::string& lesson, std::initializer_list<const char*> arguments);
