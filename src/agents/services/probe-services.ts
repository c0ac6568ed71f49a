import { SERVICES, type Service } from "../../config/skills/manifest.js";
import { type ServiceSettings, vlmRoles } from "./settings.js";

export type ServiceReport = {
  service: Service;
  /** What answers for it, or what would. */
  by: string;
  at_hand: boolean;
  /** Why it is not at hand; empty where it is. */
  why: string;
};

/** Time that an endpoint may take to say that it is there [s]. */
const PROBE_S = 5;

/** Services that nothing can be configured for yet. */
const UNCONFIGURABLE: readonly Service[] = ["policy", "world_model"];

/** What servers of tools said, or why none was asked. */
export type AskedTools = { report: readonly { server: string; tools: number; why: string }[] } | { unasked: string };

const UNASKED: AskedTools = { unasked: "no server of tools was asked" };

export type ProbedServices = { at_hand: Service[]; report: ServiceReport[] };

/**
 * Which services are at hand, asked for real: the endpoint of the vision model must answer, and know the model where it
 * lists its models. Never throws for a service that is not there. Without a role of kind "vlm" nothing is asked.
 */
export async function probeServices(
  settings: ServiceSettings,
  deadline_s: number = PROBE_S,
  tools: AskedTools = UNASKED,
): Promise<ProbedServices> {
  const roles = vlmRoles(settings);
  const trouble = roles.length === 0 ? 'no role of [services] is "vlm"' : await endpointTrouble(settings, deadline_s);
  return servicesBy(settings, trouble, tools);
}

/** Which services are at hand where the vision model is in no trouble (null), or in one. */
export function servicesBy(
  settings: ServiceSettings,
  trouble: string | null,
  tools: AskedTools = UNASKED,
): ProbedServices {
  const model = settings.model ? `vlm ${settings.model.model}` : "vlm";
  const report = SERVICES.map((service): ServiceReport => {
    if (UNCONFIGURABLE.includes(service)) return { service, by: "none", at_hand: false, why: "nothing provides it" };
    if (service === "mcp") return toolsReport(tools);
    if (service === "vlm") return { service, by: model, at_hand: trouble === null, why: trouble ?? "" };
    const by = settings[service as "pointer" | "segmenter" | "verifier"];
    if (by === "none") return { service, by, at_hand: false, why: `services.${service} is "none"` };
    if (by === "builtin") return { service, by, at_hand: true, why: "" };
    return { service, by: model, at_hand: trouble === null, why: trouble ?? "" };
  });
  return { at_hand: report.filter(({ at_hand }) => at_hand).map(({ service }) => service), report };
}

/** Tools are at hand where any server has some; what is wrong with the others is said all the same. */
function toolsReport(tools: AskedTools): ServiceReport {
  if ("unasked" in tools) return { service: "mcp", by: "none", at_hand: false, why: tools.unasked };
  const words = tools.report.map(({ server, tools, why }) =>
    tools === 0
      ? `${server}: ${why}`
      : `${server}: ${tools} tool${tools === 1 ? "" : "s"}${why === "" ? "" : ` (${why})`}`,
  );
  const at_hand = tools.report.some(({ tools }) => tools > 0);
  return { service: "mcp", by: words.join("; "), at_hand, why: at_hand ? "" : words.join("; ") };
}

/** Why the endpoint is of no use, in words, or null. */
async function endpointTrouble({ model }: ServiceSettings, deadline_s: number): Promise<string | null> {
  if (!model) return "services.base_url and services.name say which vision model: they are missing";
  try {
    const response = await fetch(`${model.base_url.replace(/\/+$/, "")}/models`, {
      headers: model.api_key === undefined ? {} : { authorization: `Bearer ${model.api_key}` },
      signal: AbortSignal.timeout(deadline_s * 1e3),
      redirect: "error",
    });
    const text = (await response.text()).slice(0, 1_000_000);
    if (response.status === 401 || response.status === 403)
      return `the endpoint refuses the key (${response.status}): set the variable that services.api_key_env names`;
    // Some endpoints list no models; that they answer is what was asked.
    if (response.status === 404 || response.status === 405) return null;
    if (!response.ok) return `the endpoint answers ${response.status}`;
    const known = listedModels(text);
    return known === null || known.includes(model.model)
      ? null
      : `the endpoint does not know the model "${model.model}"; it has ${known.slice(0, 5).join(", ") || "none"}`;
  } catch (error) {
    const timeout = error instanceof Error && error.name === "TimeoutError";
    if (timeout) return `the endpoint of services.base_url did not answer within ${deadline_s} s`;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error);
    return `no endpoint answers at services.base_url (${cause.message})`;
  }
}

function listedModels(text: string): string[] | null {
  try {
    const { data } = JSON.parse(text) as { data?: { id?: unknown }[] };
    return Array.isArray(data) ? data.map(({ id }) => String(id)) : null;
  } catch {
    return null;
  }
}
