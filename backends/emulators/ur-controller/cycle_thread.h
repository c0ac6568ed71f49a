// The 500 Hz loop on absolute times of CLOCK_MONOTONIC.
#pragma once

#include <string>

#include "backends/emulators/ur-controller/process.h"

namespace s2r::ur {

// Puts the calling thread under SCHED_FIFO and locks the process's memory; returns why not, empty
// when granted.
[[nodiscard]] std::string askRealtime(int priority);

// Runs until process.stop; after each cycle the event is raised for the server's thread.
void runCycles(Process& process, int event_fd);

}  // namespace s2r::ur
