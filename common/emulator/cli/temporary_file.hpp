/// A temporary file. Its destructor removes it.
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

/// Starts empty, open for reading and writing. Child processes do not inherit it.
class TemporaryFile {
public:
    /// \throws CommandError
    TemporaryFile() {
        const char* const folder = std::getenv("TMPDIR");
        std::string name = std::string(folder && *folder ? folder : "/tmp") + "/emulate-XXXXXX";
        descriptor_ = mkostemp(name.data(), O_CLOEXEC);
        if (descriptor_ < 0)
            throw CommandError(ExitStatus::failed,
                               "no temporary file " + name + " can be made: " + std::strerror(errno));
        path_ = std::filesystem::absolute(name); // the program may go to another folder
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
