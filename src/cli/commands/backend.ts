import type { Command } from "commander";
import { SimBackend } from "../../../backends/sim/launch.js";
import { Skill2RealError } from "../../contract/errors.js";
import type { ConformanceTarget } from "../../evaluation/conformance/context.js";
import { countResults, formatResults } from "../../evaluation/conformance/format-results.js";
import { runConformance } from "../../evaluation/conformance/run-conformance.js";
import { EXIT } from "../exit-codes.js";
import { liveBackends } from "../live-backends.js";
import type { Ended } from "../main.js";

type CheckOptions = { filter?: string[]; realtime: number; json: boolean; allowMotion: boolean };

/** A backend by name, spawned; or by the addresses of a running one, whose arm moves only where that is allowed. */
async function targetOf(
  backend: string,
  { realtime, allowMotion }: CheckOptions,
): Promise<{ target: ConformanceTarget; close: () => Promise<unknown> }> {
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
    `there is no backend "${backend}": give sim, or the three addresses DEVICE,STOP,EVENTS of a running one${running.length > 0 ? ` (running: ${running.join("  ")})` : ""}`,
  );
}

export function addBackend(program: Command, ended: Ended): void {
  program
    .command("backend")
    .description("work with backends")
    .command("check")
    .description("run the conformance suite against a spawned or running backend and print a table")
    .argument("<backend>", '"sim" (spawned), or DEVICE,STOP,EVENTS addresses of a running backend')
    .option("--filter <words...>", "only checks whose group or name holds one of these words")
    .option("--realtime <rate>", "check the simulator with a wall clock at this rate", Number, 0)
    .option("--allow-motion", "a running backend's arm may be moved", false)
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
