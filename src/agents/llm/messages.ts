/** An image as a message holds it: by what it is, not by where it lies. */
export type ImagePart = {
  type: "image";
  /** View or overlay and ordinal, as captions name it; equal in a replay. */
  name: string;
  width: number;
  height: number;
} & (
  | {
      /** Of its PNG, relative to the run's folder. */
      path: string;
    }
  | {
      /** RGB8 rows. */
      pixels: Uint8Array;
    }
);
export type TextPart = { type: "text"; text: string };
export type ModelMessage = { role: "system" | "user" | "assistant"; parts: (TextPart | ImagePart)[] };

export const textMessage = (role: ModelMessage["role"], text: string): ModelMessage => ({
  role,
  parts: [{ type: "text", text }],
});

/** What a model gave back. */
export type ModelReply = {
  text: string;
  tool: { name: string; arguments: string } | null;
  /** As the endpoint says it: "stop", "length", "tool_calls", "content_filter"… */
  finish_reason: string;
  refusal: string | null;
};
export type ModelUsage = {
  tokens_in: number;
  tokens_out: number /** False where the endpoint did not say and they are estimated. */;
  counted: boolean;
};
