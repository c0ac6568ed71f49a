/** Writes status-codes.ts: the table of status codes. */
export function writeStatuses(model, banner) {
  const entries = model.statusCodes.map(
    ({ name, number, common, documentation }) =>
      `  ${name}: { code: ${JSON.stringify(name)}, number: ${number}, common: ${common}, documentation: ${JSON.stringify(documentation)} },\n`,
  );
  return `${banner}
/** A status code: \`common\` ones may come from every operation. */
export type StatusCodeInfo = { readonly code: string; readonly number: number; readonly common: boolean; readonly documentation: string };

/** ${model.status.documentation.replace(/ COMMON.*/, "")} Numbers are stable. */
export const STATUS_CODES = {
${entries.join("")}} as const satisfies Record<string, StatusCodeInfo>;

export type StatusCodeName = keyof typeof STATUS_CODES;
`;
}
