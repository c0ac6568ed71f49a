import type { Command } from "commander";
import { NativeBackend } from "../../../backends/native/launch.js";
import { SimBackend } from "../../../backends/sim/launch.js";
import { Skill2RealError } from "../../contract/errors.js";
import type { ConformanceTarget } from "../../evaluation/conformance/context.js";
import { countResults, formatResults } from "../../evaluation/conformance/format-results.js";
import { runConformance } from "../../evaluation/conformance/run-conformance.js";
import { startEmulatedRig } from "../../evaluation/rig-world.js";
import { EXIT } from "../exit-codes.js";
import { liveBackends } from "../live-backends.js";
import type { Ended } from "../main.js";
import { confirmMotion, type RigOptions, rigOf, speedOf } from "../rigs.js";

type CheckOptions = Omit<RigOptions, "realtime"> & {
  filter?: string[];
  realtime: number;
  json: boolean;
  allowMotion: boolean;
};
type Checked = { target: ConformanceTarget; close: () => Promise<unknown> };

/** The native backend on an emulated rig of its own; both end together. */
async function spawnEmulated(): Promise<{ addresses: NativeBackend["addresses"]; close: () => Promise<void> }> {
  const rig = await startEmulatedRig({ seed: 1 });
  try {
    const native = await NativeBackend.spawn({ rig: rig.rig });
    return {
      addresses: native.addresses,
      close: async () => {
        await native.close();
        await rig.close();
      },
    };
  } catch (error) {
    await rig.close();
    throw error;
  }
}

async function nativeTarget(options: CheckOptions): Promise<Checked> {
  const named = rigOf(options);
  if (named.emulated) {
    const { addresses, close } = await spawnEmulated();
    return { target: { addresses, allowMotion: true, spawnAnother: spawnEmulated }, close };
  }
  const speedCap = speedOf(named, options);
  if (options.allowMotion) await confirmMotion(named, speedCap, "This check");
  const native = await NativeBackend.spawn({ rig: named.rig, speedCap });
  return { target: { addresses: native.addresses, allowMotion: options.allowMotion }, close: () => native.close() };
}

/** A backend by name, spawned; or by the addresses of a running one, whose arm moves only where that is allowed. */
async function targetOf(backend: string, options: CheckOptions): Promise<Checked> {
  const { realtime, allowMotion } = options;
  if (backend === "native") return nativeTarget(options);
  if (backend === "sim") {
    const spawn = (): Promise<SimBackend> => SimBackend.spawn({ realtime, privileged: true });
    const sim = await spawn();
    return {
      target: {
        addresses: sim.addresses,
        privileged: sim.privileged,
        allowMotion: true,
        spawnAnother: spawn,
      } as ConformanceTarget,
      close: () => sim.close(),
    };
  }
  const [device, stop, events] = backend.split(",");
  if (device && stop && events && /^(ipc|tcp):\/\//.test(device)) {
    return { target: { addresses: { device, stop, events }, allowMotion } as ConformanceTarget, close: async () => {} };
  }
  const running = liveBackends().map((entry) => Object.values(entry.addresses).join(","));
  throw new Skill2RealError(
    "not_found",
    `there is no backend "${backend}": give sim, native, or the three addresses DEVICE,STOP,EVENTS of a running one${running.length > 0 ? ` (running: ${running.join("  ")})` : ""}`,
  );
}

export function addBackend(program: Command, ended: Ended): void {
  program
    .command("backend")
    .description("work with backends")
    .command("check")
    .description("run the conformance suite against a spawned or running backend and print a table")
    .argument("<backend>", '"sim" or "native" (spawned), or DEVICE,STOP,EVENTS addresses of a running backend')
    .option("--rig <rig>", "of native: emulated, a name of the configuration, or FILE.toml")
    .option("--speed <fraction>", "real rig: fraction of its speeds (default: its speed_cap)", Number)
    .option("--config <file>", "configuration file")
    .option("--filter <words...>", "only checks whose group or name holds one of these words")
    .option("--realtime <rate>", "check the simulator with a wall clock at this rate", Number, 0)
    .option("--allow-motion", "a running backend's or a real rig's arm may be moved", false)
    .option("--json", "print JSON", false)
    .action(async (backend: string, options: CheckOptions) => {
      const { target, close } = await targetOf(backend, options);
      try {
        const results = await runConformance({
          target,
          ...(options.filter ? { filter: options.filter } : {}),
          onResult: ({ group, name, outcome }) => process.stderr.write(`${outcome.padEnd(8)} ${group}: ${name}\n`),
        });
        process.stdout.write(
          options.json
            ? `${JSON.stringify(results, null, 2)}\n`
            : `${formatResults(results, process.stdout.columns ?? 140)}\n`,
        );
        if (countResults(results).failed > 0) ended(EXIT.failed);
      } finally {
        await close();
      }
    });
}
