/** The first Ctrl-C (or SIGTERM) calls `stop`, which stops the arm; the second ends the process at once. */
export function onInterrupt(stop: (reason: string) => Promise<void>): {
  interrupted: () => boolean;
  dispose: () => void;
} {
  let count = 0;
  const handler = (signal: NodeJS.Signals): void => {
    count += 1;
    if (count > 1) process.exit(130);
    // The stop leaves first: a terminal or a pipe that takes no words would hold it up.
    const stopped = stop(`interrupted by ${signal}`);
    process.stderr.write(`\n${signal}: stopping the arm; once more ends at once\n`);
    stopped.catch((error: unknown) =>
      process.stderr.write(`the stop was not answered: ${error instanceof Error ? error.message : String(error)}\n`),
    );
  };
  process.on("SIGINT", handler);
  process.on("SIGTERM", handler);
  return {
    interrupted: () => count > 0,
    dispose: () => {
      process.off("SIGINT", handler);
      process.off("SIGTERM", handler);
    },
  };
}
