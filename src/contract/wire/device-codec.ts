import type { DeviceEvent, DeviceReply, DeviceRequest, StopReply, StopRequest } from "../generated/device.js";
import { ProtocolFile } from "./codec.js";

/** Version of the device and privileged protocols that this package speaks. */
export const PROTOCOL_MAJOR = 1;
export const PROTOCOL_MINOR = 0;

/** Largest part that a server takes. */
export const MAX_PART_BYTES = 1 << 20;

const file = new ProtocolFile("device.proto");

export const requestCodec = file.codec<DeviceRequest>("Request");
export const replyCodec = file.codec<DeviceReply>("Reply");
export const stopRequestCodec = file.codec<StopRequest>("StopRequest");
export const stopReplyCodec = file.codec<StopReply>("StopReply");
export const eventCodec = file.codec<DeviceEvent>("Event");
