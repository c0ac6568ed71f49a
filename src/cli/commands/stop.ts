import type { Command } from "commander";
import { Skill2RealError } from "../../contract/errors.js";
import { DeviceClient } from "../../runtime/device/device-client.js";
import { EXIT } from "../exit-codes.js";
import { liveBackends } from "../live-backends.js";
import type { Ended } from "../main.js";

export function addStop(program: Command, ended: Ended): void {
  program
    .command("stop")
    .description("stop every arm that this user's running commands move, now")
    .option("--reason <words>", "written to the log and the trace", "stopped from the command line")
    .option("--json", "print each stop as one JSON object: when it was sent and served", false)
    .action(async ({ reason, json }: { reason: string; json: boolean }) => {
      const backends = liveBackends();
      if (backends.length === 0)
        throw new Skill2RealError(
          "not_found",
          "no running backend of this user is known: an arm under another program is stopped at its own panel",
        );
      for (const { pid, addresses } of backends) {
        try {
          const device = await DeviceClient.connect({
            ...addresses,
            role: "STOPPER",
            client: "skill2real/stop",
            connectTimeoutMs: 2_000,
          });
          const sent_s = Number(process.hrtime.bigint()) / 1e9;
          const { stop_epoch, time_s } = await device.stop(reason);
          device.close();
          process.stdout.write(
            json
              ? `${JSON.stringify({ pid, sent_s, time_s, stop_epoch })}\n`
              : `process ${pid}: stopped at device time ${time_s.toFixed(3)} s (epoch ${stop_epoch})\n`,
          );
        } catch (error) {
          ended(EXIT.infrastructure);
          process.stderr.write(
            `process ${pid}: NOT stopped: ${error instanceof Error ? error.message : String(error)}\n`,
          );
        }
      }
    });
}
