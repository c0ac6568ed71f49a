import { lookup } from "node:dns/promises";
import { isIPv4, isIPv6 } from "node:net";
import { Skill2RealError } from "../../contract/errors.js";

export type ControllerAddressOptions = {
  /** How long a name may take to be looked up. Default 3000. */
  deadlineMs?: number;
  /** Gives the IPv4 address of a name. Default: the system's resolver, which has no deadline of its own. */
  lookUp?: (name: string) => Promise<string>;
};

const DEADLINE_MS = 3000;
const ipv4Of = async (name: string): Promise<string> => (await lookup(name, { family: 4 })).address;

/**
 * The numeric IPv4 address of a controller that is named by it or by a host name. A name is looked up once: whoever connects
 * to it again later goes to the same controller. Rejects with `arm_unreachable`.
 */
export async function controllerAddress(host: string, options: ControllerAddressOptions = {}): Promise<string> {
  if (isIPv4(host)) return host;
  const failed = (why: string, cause?: unknown): Skill2RealError =>
    new Skill2RealError(
      "arm_unreachable",
      `arm: arm.host is "${host}", ${why}: write the controller's IPv4 address, as its pendant shows it under Settings > System > Network`,
      { cause },
    );
  if (isIPv6(host)) throw failed("an IPv6 address, which controllers do not have");
  const { deadlineMs = DEADLINE_MS, lookUp = ipv4Of } = options;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failed(`a name that was not looked up within ${deadlineMs} ms`)), deadlineMs);
  });
  const found = lookUp(host).catch((cause: NodeJS.ErrnoException) => {
    throw failed(`a name that cannot be looked up (${cause.code ?? cause.message})`, cause);
  });
  try {
    return await Promise.race([found, late]);
  } finally {
    clearTimeout(timer);
  }
}
