/**
 * Writes the declarations that programs are checked against, as text in a module. They are ambient: an optional skill adds
 * its functions by declaring `interface RobotApi { … }` again, which merges.
 */
import { apiInterface, typePieces } from "./typescript.mjs";

const SCOPE = `/** What is thrown where an operation has no result to say it in. */
declare class RobotError extends Error {
  constructor(code: StatusCode, message: string);
  readonly code: StatusCode;
}

/** The robot. Nothing else reaches the world. */
declare const robot: Readonly<RobotApi>;

/** What is printed is kept with the stage and shown before the next one. */
declare const console: {
  log(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
};

/** Lets device time pass while nothing is asked of the robot. */
declare function sleep(seconds: number): Promise<void>;
`;

export const declarationText = (model) => [...typePieces(model, ""), apiInterface(model, ""), SCOPE].join("\n");

export function writeDeclarations(model, banner) {
  const text = declarationText(model).replace(/[`\\]|\$\{/g, (found) => `\\${found}`);
  return `${banner}
/** The ambient declarations (the text of a .d.ts) that programs are type-checked against; beside them only lib es2022. */
export const ROBOT_API_DECLARATIONS = \`${text}\`;
`;
}
