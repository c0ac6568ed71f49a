const runs = new Set<() => void>();

/** Runs `run` when this process exits; returns what takes it back. One listener serves all. */
export function atExit(run: () => void): () => void {
  if (runs.size === 0) process.on("exit", runAll);
  runs.add(run);
  return () => {
    runs.delete(run);
    if (runs.size === 0) process.off("exit", runAll);
  };
}

function runAll(): void {
  for (const run of runs) run();
}
