import { createHash } from "node:crypto";

/** SHA-256 in lower-case hex; of a text its UTF-8 bytes. */
export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");
