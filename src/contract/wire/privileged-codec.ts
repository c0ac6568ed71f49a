import type { PrivilegedReply, PrivilegedRequest } from "../generated/privileged.js";
import { ProtocolFile } from "./codec.js";

const file = new ProtocolFile("privileged.proto");

export const privilegedRequestCodec = file.codec<PrivilegedRequest>("PrivilegedRequest");
export const privilegedReplyCodec = file.codec<PrivilegedReply>("PrivilegedReply");
