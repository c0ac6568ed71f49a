import { ProtocolFile } from "./codec.js";

/** Messages of trace.proto. */
export type TraceExchange = {
  sequence: number;
  verb: string;
  request: Uint8Array;
  reply: Uint8Array;
  parts: Uint8Array[];
};
export type TraceCall = {
  stage: number;
  index: number;
  operation: string;
  request_json: string;
  result_json: string;
  start_s: number;
  end_s: number;
};
export type TraceProgram = { stage: number; source: string };
export type TraceEvent = { kind: string; details_json: string };

const file = new ProtocolFile("trace.proto");

export const traceExchangeCodec = file.codec<TraceExchange>("Exchange");
export const traceCallCodec = file.codec<TraceCall>("Call");
export const traceProgramCodec = file.codec<TraceProgram>("Program");
export const traceEventCodec = file.codec<TraceEvent>("Event");
