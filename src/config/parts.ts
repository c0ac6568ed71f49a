import { z } from "zod";

/** `description` is what the template and `config show` print; `path` marks a path, made absolute when it is loaded. */
export type KeyNotes = { description: string; path?: true };

export const notes = (description: string): KeyNotes => ({ description });
export const path = (description: string): KeyNotes => ({ description, path: true });

export const fromTo = (least: number, most: number) => z.number().min(least).max(most);
export const count = (least: number, most: number) => z.int().min(least).max(most);
export const place = z.tuple([fromTo(-10, 10), fromTo(-10, 10), fromTo(-10, 10)]);
export const text = z.string().min(1).max(1000);

export type Corners = { min_xyz?: readonly number[]; max_xyz?: readonly number[] };

/** Every coordinate of the far corner lies above that of the near one, where both are given. */
export function ordered<T>(cornersOf: (value: T) => Corners, name: string): z.core.CheckFn<T> {
  return ({ value, issues }) => {
    const { min_xyz, max_xyz } = cornersOf(value);
    if (!min_xyz || !max_xyz || max_xyz.every((most, axis) => most > (min_xyz[axis] ?? -Infinity))) return;
    const message = `must be above [${min_xyz.join(", ")}] in x, y and z`;
    issues.push({ code: "custom", path: [name], input: max_xyz, message });
  };
}

export const zone = z
  .strictObject({
    name: text.meta(notes("what a refused motion calls it")),
    min_xyz: place.meta(notes("lowest corner, world [m]")),
    max_xyz: place.meta(notes("highest corner, world [m]")),
  })
  .check(ordered((value) => value, "max_xyz"));
export const name = z.string().min(1).max(64);

/**
 * `base_url` is an address of http or https and names nobody: a user or a password in it would be shown wherever the address is.
 * The message shows no value, for that reason.
 */
export const openAddress: z.core.CheckFn<{ base_url?: string | undefined }> = ({ value: { base_url }, issues }) => {
  if (base_url === undefined) return;
  const refuse = (message: string): void => void issues.push({ code: "custom", path: [], input: undefined, message });
  const address = URL.canParse(base_url) ? new URL(base_url) : null;
  if (address === null || !/^https?:$/.test(address.protocol))
    refuse("needs an address with http:// or https:// as base_url");
  else if (address.username !== "" || address.password !== "")
    refuse("must not have a user or a password in base_url: a key comes from the variable that api_key_env names");
};
