#include "emulator/cli/command.hpp"

int main(int argc, char** argv) { return emulate::command(argc, argv); }
