/** The public contract: types, tables, digests and checks of what a program may ask of the robot. */
export { describeIssues } from "./describe-issues.js";
export { ERROR_CODES, type ErrorCode } from "./error-codes.js";
export { isSkill2RealError, Skill2RealError, type Skill2RealErrorOptions } from "./errors.js";
export { CONTRACT_DIGESTS } from "./generated/digests.js";
export { IMPLEMENTATION_DIGEST } from "./generated/implementation-digest.js";
export type * from "./generated/robot-api.js";
export { ROBOT_API_DECLARATIONS } from "./generated/robot-api-declarations.js";
export { OPERATION_NAMES, OPERATIONS, REQUEST_SCHEMAS, RESULT_SCHEMAS } from "./generated/robot-api-dispatch.js";
export { ROBOT_API_TEXT } from "./generated/robot-api-text.js";
export { STATUS_CODES, type StatusCodeInfo, type StatusCodeName } from "./generated/status-codes.js";
export type { FieldInfo, OperationInfo, RequestInfo } from "./operation-info.js";
export { isJsonValue } from "./schema-rules.js";
export { suggest } from "./suggest.js";
export {
  findOperation,
  isOperationName,
  type RequestCheck,
  validateRequest,
  validateResult,
} from "./validate-request.js";
