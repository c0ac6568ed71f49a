import { Dealer } from "zeromq";
import { z } from "zod";
import { Skill2RealError } from "../../src/contract/errors.js";

/** Where a person's commands to a running native backend go. The key is known to who started it, and to nobody it serves. */
export type OperatorAddress = { address: string; key: string };

export const operatorRequestSchema = z.strictObject({ key: z.string(), command: z.enum(["status", "recover"]) });
export type OperatorRequest = z.infer<typeof operatorRequestSchema>;

export const operatorStatusSchema = z.strictObject({
  /** Empty where the arm has no fault. */
  fault_code: z.string(),
  fault_message: z.string(),
  stop_latched: z.boolean(),
  stop_reason: z.string(),
  stop_epoch: z.number().int(),
  moving: z.boolean(),
});
export type OperatorStatus = z.infer<typeof operatorStatusSchema>;

const recoveredSchema = z.strictObject({ token: z.string(), count: z.number().int(), stop_epoch: z.number().int() });
export type Recovered = z.infer<typeof recoveredSchema>;

const answerSchema = z.union([
  z.strictObject({ waiting_s: z.number() }),
  z.strictObject({ status: operatorStatusSchema }),
  z.strictObject({ recovered: recoveredSchema }),
  z.strictObject({ error: z.string() }),
]);
export type OperatorAnswer = z.infer<typeof answerSchema>;

const STATUS_MS = 3000;
/** The controller's lock-out after a protective stop, a brake release, and the program's start. */
const RECOVER_MS = 60_000;

async function ask(
  { address, key }: OperatorAddress,
  command: OperatorRequest["command"],
  patience_ms: number,
  onWait: (seconds: number) => void = () => {},
): Promise<OperatorAnswer> {
  const socket = new Dealer({ linger: 0, receiveTimeout: patience_ms });
  try {
    socket.connect(address);
    await socket.send(JSON.stringify({ key, command }));
    for (;;) {
      const [bytes] = await socket.receive();
      const answer = answerSchema.parse(JSON.parse(String(bytes)));
      if ("error" in answer) throw new Skill2RealError("backend_refused", answer.error);
      if (!("waiting_s" in answer)) return answer;
      onWait(answer.waiting_s);
    }
  } catch (cause) {
    if (cause instanceof Skill2RealError) throw cause;
    throw new Skill2RealError(
      "backend_unreachable",
      `the native backend at ${address} did not answer ${command} within ${patience_ms / 1e3} s: see whether it runs`,
      { cause },
    );
  } finally {
    socket.close();
  }
}

/** What the arm's supervisor says now. */
export async function operatorStatus(operator: OperatorAddress): Promise<OperatorStatus> {
  const answer = await ask(operator, "status", STATUS_MS);
  if ("status" in answer) return answer.status;
  throw new Skill2RealError("protocol_mismatch", "the native backend answered status with something else");
}

/**
 * Recovery from a protective stop, for a person who has looked: waits the controller's lock-out (`onWait` tells the seconds
 * left), unlocks it, and gives the single-use token that Resume of the latched epoch needs. The arm does not move.
 */
export async function operatorRecover(
  operator: OperatorAddress,
  onWait: (seconds: number) => void = () => {},
): Promise<Recovered> {
  const answer = await ask(operator, "recover", RECOVER_MS, onWait);
  if ("recovered" in answer) return answer.recovered;
  throw new Skill2RealError("protocol_mismatch", "the native backend answered recover with something else");
}
