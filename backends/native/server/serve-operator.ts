import { timingSafeEqual } from "node:crypto";
import { Router } from "zeromq";
import { SendQueue } from "../../device-server/send-queue.js";
import { type OperatorAnswer, operatorRequestSchema } from "../operator.js";
import type { ArmDriver, GripperDriver } from "./drivers.js";

type Devices = { arm: ArmDriver; gripper: GripperDriver | null };

/** Binds the operator's socket and serves it until it is closed; what comes without the key is told nothing. */
export async function serveOperator(address: string, key: string, devices: Devices): Promise<Router> {
  const socket = new Router({ linger: 0, maxMessageSize: 4096 });
  await socket.bind(address);
  const queue = new SendQueue((parts) => socket.send(parts as Uint8Array[] as Buffer[]));
  const serve = async (): Promise<void> => {
    for await (const [peer, bytes] of socket) {
      const tell = (answer: OperatorAnswer): void => queue.add([peer!, Buffer.from(JSON.stringify(answer))]);
      void answerTo(bytes, key, devices, tell);
    }
  };
  serve().catch(() => {});
  return socket;
}

async function answerTo(
  bytes: Buffer | undefined,
  key: string,
  { arm, gripper }: Devices,
  tell: (answer: OperatorAnswer) => void,
): Promise<void> {
  try {
    const request = operatorRequestSchema.parse(JSON.parse(String(bytes)));
    if (!sameKey(request.key, key)) return tell({ error: "the operator's key is another one" });
    const state = arm.state();
    const jaw = gripper?.state();
    const ill = state.fault_code !== "" ? state : jaw && jaw.fault_code !== "" ? jaw : null;
    if (request.command === "status") {
      const { stop_latched, stop_reason, stop_epoch, group } = state;
      const [fault_code, fault_message] = [ill?.fault_code ?? "", ill?.fault_message ?? ""];
      return tell({
        status: { fault_code, fault_message, stop_latched, stop_reason, stop_epoch, moving: group !== 0 },
      });
    }
    if (!ill) return tell({ error: "neither arm nor gripper has a fault to recover from" });
    if (jaw && jaw.fault_code !== "") await gripper!.recover();
    // An arm that is well was stopped for the gripper: such a stop needs no token.
    const { token, count } =
      state.fault_code === "" ? { token: "", count: 0 } : await arm.recover((waiting_s) => tell({ waiting_s }));
    tell({ recovered: { token, count, stop_epoch: arm.state().stop_epoch } });
  } catch (error) {
    tell({ error: error instanceof Error ? error.message : String(error) });
  }
}

function sameKey(given: string, key: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(key)];
  return a.length === b.length && timingSafeEqual(a, b);
}
