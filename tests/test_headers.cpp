// No code: CMake compiles the headers that tests share for a target with a source.
