/**
 * Entry of the native backend's process. Reads one line of JSON on descriptor 3, opens the devices of the rig, says so in one
 * line on stdout, and brings the arm to rest and ends when descriptor 3 does.
 *
 * @module
 */
import { join } from "node:path";
import { checkRig } from "../../../src/config/rig.js";
import { failBackend, runOnLeash } from "../../device-server/leash.js";
import { nativeBootstrapSchema } from "./bootstrap.js";
import { NativeServer } from "./native-server.js";
import { type OpenedRig, openRig, rigNotes } from "./open-rig.js";
import { serveOperator } from "./serve-operator.js";

const EXIT_ASKED = 0;
const EXIT_DEFECT = 1;
const EXIT_LEASE_LAPSED = 3;
const EXIT_PARENT_GONE = 4;
/** How long letting go of the devices may take. The arm needs none of it: what stops it is below JavaScript. */
const END_TIMEOUT_MS = 10_000;

let server: NativeServer<OpenedRig> | undefined;
let ending = false;

/** The first call counts: the arm comes to rest, the devices are let go of, the process ends. */
function end(reason: string, code: number): void {
  if (ending) return;
  ending = true;
  process.stderr.write(`ending: ${reason}\n`);
  const closed = server ? server.close(reason) : Promise.resolve();
  setTimeout(() => process.exit(code), END_TIMEOUT_MS).unref();
  void closed.finally(() => process.exit(code));
}

async function serve(bootstrap: unknown): Promise<void> {
  const {
    socket_dir,
    rig: given,
    speed_cap,
    exit_on_lease_lapse,
    operator_key,
  } = nativeBootstrapSchema.parse(bootstrap);
  const rig = checkRig(given, "the rig");
  server = await NativeServer.start({
    rig,
    socket_dir,
    speed_cap,
    open: (stop_address) => openRig({ rig, stop_address, speed_cap }),
    onLapse: () => {
      if (exit_on_lease_lapse) end("lease lapsed", EXIT_LEASE_LAPSED);
    },
    onDefect: (error) => process.stderr.write(`defect: ${error instanceof Error ? error.stack : String(error)}\n`),
  });
  const operator = `ipc://${join(socket_dir, "o")}`;
  await serveOperator(operator, operator_key, server.drivers);
  const { device, stop, events } = server.addresses;
  const ready = { ready: true, device, stop, events, operator, notes: rigNotes(server.drivers), pid: process.pid };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => end(signal, EXIT_ASKED));
for (const defect of ["uncaughtException", "unhandledRejection"] as const)
  process.on(defect, (error: unknown) => {
    process.stderr.write(`defect: ${error instanceof Error ? error.stack : String(error)}\n`);
    end("a defect of the backend", EXIT_DEFECT);
  });

runOnLeash(
  (bootstrap) => serve(bootstrap).catch((error: unknown) => (ending ? undefined : failBackend(error))),
  () => end("the parent let go", server ? EXIT_ASKED : EXIT_PARENT_GONE),
);
