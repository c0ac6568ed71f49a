import { z } from "zod";
import { isSkill2RealError } from "../../contract/errors.js";
import {
  type Comparer,
  type Finder,
  type NamedImage,
  OperationFailure,
  type SeenThing,
  type SkillServices,
} from "../../runtime/operation.js";
import { boxInPixels, pointInPixels } from "../llm/coordinates.js";
import { type ImagePart, type ModelMessage, textMessage } from "../llm/messages.js";
import type { ModelCompletion } from "../llm/model.js";
import { type ServiceRole, type ServiceSettings, vlmRoles } from "./settings.js";

/** Asks the vision model in one of its roles. */
export type AskVision = (role: ServiceRole, messages: readonly ModelMessage[]) => Promise<ModelCompletion>;
type Settings = NonNullable<ServiceSettings["model"]>;

const MOST_THINGS = 50;
const number = z.number().finite();
const thingsSchema = z.strictObject({
  things: z
    .array(
      z.strictObject({
        label: z.string().min(1).max(200),
        box: z.strictObject({ x0: number, y0: number, x1: number, y1: number }),
        point: z.strictObject({ u: number, v: number }).optional(),
      }),
    )
    .max(MOST_THINGS),
});
const changeSchema = z.strictObject({
  differences: z.array(z.string().min(1).max(500)).max(30),
  seen: z.string().max(1000),
  uncertainty: z.string().max(1000),
});

/** The services of a set of settings: a role of kind "vlm" is answered by the vision model, the others by nobody here. */
export function skillServices(settings: ServiceSettings, ask: AskVision): SkillServices {
  const roles = vlmRoles(settings);
  const { model } = settings;
  const service = (role: ServiceRole): VisionModel | null =>
    model && roles.includes(role) ? new VisionModel(model, (messages) => ask(role, messages)) : null;
  return { pointer: service("pointer"), segmenter: service("segmenter"), verifier: service("verifier") };
}

/** One vision model in the role of pointer, segmenter or comparer. What it answers is checked, and asked once more where it is of no use. */
class VisionModel implements Finder, Comparer {
  readonly model: string;
  readonly #settings: Settings;
  readonly #ask: (messages: readonly ModelMessage[]) => Promise<ModelCompletion>;

  constructor(settings: Settings, ask: (messages: readonly ModelMessage[]) => Promise<ModelCompletion>) {
    this.model = `vlm/${settings.model}`;
    this.#settings = settings;
    this.#ask = ask;
  }

  async find(image: NamedImage, query: string): Promise<SeenThing[]> {
    const unit =
      this.#settings.coordinates === "pixel"
        ? `pixels of the ${image.width} x ${image.height} picture`
        : "thousandths of its width and height (0 to 1000)";
    const question = `Find every thing in the picture that fits these words: ${JSON.stringify(query)}. Answer with one JSON object and nothing else: {"things": [{"label": "…", "box": {"x0": …, "y0": …, "x1": …, "y1": …}, "point": {"u": …, "v": …}}]}. Coordinates are ${unit}, from the upper left corner; the box is tight, the point lies on the thing. An empty list where nothing fits: do not guess.`;
    return this.#asked(question, [image], thingsSchema, ({ things }) =>
      things.map((thing) => this.#inImage(thing, image)),
    );
  }

  compare(before: NamedImage, after: NamedImage, question: string) {
    const words = `The first picture was taken before, the second after. Say what looks different, and what you see of this question: ${JSON.stringify(question)}. Do not judge whether anything succeeded. Answer with one JSON object and nothing else: {"differences": ["…"], "seen": "…", "uncertainty": "what you could not tell, and why"}.`;
    return this.#asked(words, [before, after], changeSchema, (change) => change);
  }

  /** A thing in whole pixels of its image; throws words for the model where it lies outside. */
  #inImage({ label, box, point }: z.output<typeof thingsSchema>["things"][number], image: NamedImage): SeenThing {
    const { width, height } = image;
    const norm = this.#settings.coordinates === "norm1000";
    const [right, bottom] = norm ? [1000, 1000] : [width, height];
    const within = (value: number, most: number): boolean => value >= 0 && value <= most;
    if (
      ![box.x0, box.x1].every((value) => within(value, right)) ||
      ![box.y0, box.y1].every((value) => within(value, bottom))
    )
      throw new Error(`the box of "${label}" does not lie within 0 to ${right} and 0 to ${bottom}`);
    if (box.x1 <= box.x0 || box.y1 <= box.y0) throw new Error(`the box of "${label}" needs x0 < x1 and y0 < y1`);
    const middle = { u: (box.x0 + box.x1) / 2, v: (box.y0 + box.y1) / 2 };
    const on = point ?? middle;
    if (on.u < box.x0 || on.u > box.x1 || on.v < box.y0 || on.v > box.y1)
      throw new Error(`the point of "${label}" does not lie in its box`);
    const px = norm ? boxInPixels(box, image) : rounded(box);
    const at = norm ? pointInPixels(on, image) : { u: Math.round(on.u), v: Math.round(on.v) };
    if (px.x1 <= px.x0 || px.y1 <= px.y0) throw new Error(`the box of "${label}" is smaller than a pixel`);
    const pixel = { u: clamp(at.u, px.x0, px.x1 - 1), v: clamp(at.v, px.y0, px.y1 - 1) };
    return { label, box: px, pixel };
  }

  async #asked<S extends z.ZodType, R>(
    question: string,
    images: NamedImage[],
    schema: S,
    use: (answer: z.output<S>) => R,
  ): Promise<R> {
    const messages: ModelMessage[] = [
      { role: "user", parts: [{ type: "text", text: question }, ...images.map(imagePart)] },
    ];
    let problem = "";
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const text = await this.#reply(messages);
      try {
        return use(schema.parse(JSON.parse(jsonIn(text))) as z.output<S>);
      } catch (error) {
        problem = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
        messages.push(
          textMessage("assistant", text.slice(0, 4000)),
          textMessage("user", `That is of no use: ${problem.slice(0, 500)}. Answer again, with the JSON object alone.`),
        );
      }
    }
    throw new OperationFailure(
      "service_failed",
      `${this.model} answered twice what is of no use: ${problem.slice(0, 300)}`,
    );
  }

  async #reply(messages: readonly ModelMessage[]): Promise<string> {
    try {
      return (await this.#ask(messages)).reply.text;
    } catch (error) {
      // Only what the endpoint does is the program's business: a stop, a budget or a recording that ends is not.
      if (!isSkill2RealError(error) || !error.code.startsWith("model_")) throw error;
      throw new OperationFailure("service_failed", `${this.model}: ${error.message} (${error.code})`);
    }
  }
}

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));
const rounded = (box: { x0: number; y0: number; x1: number; y1: number }): typeof box => ({
  x0: Math.floor(box.x0),
  y0: Math.floor(box.y0),
  x1: Math.ceil(box.x1),
  y1: Math.ceil(box.y1),
});

/** From the first brace to the last: models like to wrap what they were asked for. */
function jsonIn(text: string): string {
  const [from, to] = [text.indexOf("{"), text.lastIndexOf("}")];
  if (from < 0 || to < from) throw new Error("there is no JSON object in it");
  return text.slice(from, to + 1);
}

const imagePart = ({ name = "image", pixels, width, height }: NamedImage): ImagePart => ({
  type: "image",
  name,
  width,
  height,
  pixels,
});
