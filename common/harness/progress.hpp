/// \file
/// A sign of life for what takes long.
#pragma once

#include <memory>
#include <string>

namespace harness {

/// While it lives, and from two seconds on, tells on stderr what is going on and for how long; then wipes
/// that line away. Does nothing where stderr is no terminal.
class Progress {
public:
    explicit Progress(std::string what);
    ~Progress();

private:
    struct Clock;
    std::unique_ptr<Clock> clock_;
};

} // namespace harness
