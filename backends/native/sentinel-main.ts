/**
 * Entry of the process that turns the signals of a terminal into stops. Reads one line of JSON on standard input, says "ready",
 * and ends when standard input does.
 *
 * @module
 */
import { createInterface } from "node:readline";
import { z } from "zod";
import { StopChannel } from "../../src/runtime/device/stop-channel.js";

const requestSchema = z.strictObject({ stop: z.string().min(1) });
/** A stop whose answer is lost is sent once more after half of it. */
const LOST_AFTER_MS = 1000;

function watch(stop_address: string): void {
  const channel = new StopChannel({ address: stop_address, lostAfterMs: LOST_AFTER_MS });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      channel
        .stop("", `interrupted by ${signal}`)
        .catch((error: unknown) =>
          process.stderr.write(
            `the stop at ${signal} was not answered: ${error instanceof Error ? error.message : error}\n`,
          ),
        );
    });
  // A suspended terminal job must still be able to hear Ctrl-C once it goes on.
  process.on("SIGTSTP", () => {});
  process.stdout.write("ready\n");
}

process.stdout.on("error", () => {});
process.stderr.on("error", () => {});
const lines = createInterface({ input: process.stdin });
lines.once("line", (line) => watch(requestSchema.parse(JSON.parse(line)).stop));
lines.once("close", () => process.exit(0));
