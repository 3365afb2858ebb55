/// A progress line for what takes long.
#pragma once

#include <memory>
#include <string>

namespace harness {

/// From two seconds after construction until destruction, shows on stderr what is going on and for how long.
/// The destructor erases the line. Does nothing if stderr is not a terminal.
class Progress {
public:
    explicit Progress(std::string what);
    ~Progress();

private:
    struct Clock;
    std::unique_ptr<Clock> clock_;
};

} // namespace harness
