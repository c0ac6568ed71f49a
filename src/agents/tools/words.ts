import type { ToolServer } from "./settings.js";

const ERROR_CHARS = 300;

/** Words about a server or of it, without what it was trusted with: its address, its token, the values of its environment. */
export function masked(text: string, { reach }: ToolServer): string {
  const secrets =
    reach.kind === "http"
      ? [reach.url, new URL(reach.url).host, ...(reach.token ? [reach.token] : [])]
      : Object.values(reach.env);
  return (
    secrets
      .filter((secret) => secret !== "")
      // One may be a part of another, which would then be masked in part.
      .sort((a, b) => b.length - a.length)
      .reduce((kept, secret) => kept.replaceAll(secret, "…"), text)
  );
}

/** What went wrong, masked: messages of fetch hold the address. */
export function words(error: unknown, server: ToolServer): string {
  const said =
    error instanceof Error
      ? `${error.message}${error.cause instanceof Error ? ` (${error.cause.message})` : ""}`
      : String(error);
  return masked(said, server).slice(0, ERROR_CHARS);
}
