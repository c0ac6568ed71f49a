/**
 * Codes of host-side errors (thrown as `Skill2RealError`), each with what it means.
 * The status codes that an operation returns to a program are another table: `StatusCode` in robot_api.proto.
 */
export const ERROR_CODES = {
  bad_argument: "A value that a caller passed is outside what the function documents.",
  bad_config: "A configuration file or flag has an unknown key or a value out of range.",
  addon_missing: "A native addon is not built or cannot be loaded on this machine.",
  addon_failed: "A native call refused its input or could not finish.",
  setup_incomplete: "Something that the set-up installs is missing.",
  backend_unreachable: "No backend answers at the given address.",
  backend_lost: "The backend stopped answering (killed, stopped or hung) while a session used it.",
  backend_refused: "The backend refused a request; the message holds its code and words.",
  protocol_mismatch: "The peer speaks another version of the protocol, or sent a malformed message.",
  deadline_exceeded: "A call did not finish before its deadline.",
  session_closed: "The session has ended; nothing more can be asked of it.",
  stopped: "A stop was latched; motions are refused until a new session or a resume.",
  program_refused: "A program did not pass the checks that run before anything moves.",
  program_failed: "A program threw, broke a quota or was killed.",
  guest_failed: "The sandbox process could not be started or died without a result.",
  storage_failed: "A run folder, trace or index could not be written.",
  not_found: "A named run, skill, entry, task or file does not exist.",
  diverged: "A replay asked for something that the recording does not hold.",
  usage: "The command line was used in a way that it does not document.",
  internal: "A defect of this package.",
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;
