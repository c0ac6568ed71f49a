import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { Skill2RealError } from "../../../src/contract/errors.js";

/** The ports of a controller that ur_rtde and others know by heart: dashboard, primary, secondary, script, RTDE. */
export const CONTROLLER_PORTS = [29999, 30001, 30002, 30003, 30004] as const;

const TRIES = 20;

/** True where nobody listens at the port of the host. */
export function portIsFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * An address of this machine alone (127.a.b.c; on Linux all of 127/8 is) at which every controller port is free.
 * Another process may take it meanwhile, so whoever binds it must be ready to ask again.
 *
 * @throws Skill2RealError `backend_unreachable` where no address was found.
 */
export async function freeLoopbackHost(
  ports: readonly number[] = CONTROLLER_PORTS,
  draw: () => string = drawHost,
): Promise<string> {
  let host = "";
  for (let tried = 0; tried < TRIES; tried += 1) {
    host = draw();
    let free = true;
    for (const port of ports) free = free && (await portIsFree(host, port));
    if (free) return host;
  }
  throw new Skill2RealError(
    "backend_unreachable",
    `none of ${TRIES} loopback addresses (the last was ${host}) has its ports ${ports.join(", ")} free`,
  );
}

/** Never 127.0.x.x, where other programs listen. */
function drawHost(): string {
  return `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
}
