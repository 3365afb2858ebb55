/// \file
/// A file that goes away by itself.
#pragma once

#include "emulator/cli/exit_status.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace emulate {

/// Empty at first, and open for reading and writing. Programs that are started do not inherit it.
class TemporaryFile {
public:
    /// \throws CommandError
    TemporaryFile() {
        std::string name = std::filesystem::temp_directory_path() / "emulate-XXXXXX";
        descriptor_ = mkostemp(name.data(), O_CLOEXEC);
        if (descriptor_ < 0)
            throw CommandError(ExitStatus::failed, "no temporary file can be made in " +
                                                       std::filesystem::path(name).parent_path().string() +
                                                       ": " + std::strerror(errno));
        path_ = name;
    }
    ~TemporaryFile() {
        unlink(path_.c_str());
        close(descriptor_);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    int descriptor() const { return descriptor_; }

private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

} // namespace emulate
