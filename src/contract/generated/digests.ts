// Generated from src/contract/robot_api.proto by scripts/generate.mjs. Edit the .proto, then run "npm run generate".

/** SHA-256 of the contract: of its inventory (names, numbers, skills), its documentation and its dispatch (structure). */
export const CONTRACT_DIGESTS = {
  inventory: "4e293fa9d38d1c5f3712d47f7fc975a8f33af77253a8a2107924de50051a8fe6",
  documentation: "68402b715c7a339f7c85aaba57597c341ee860dca23b099a736ff2a72413f9ab",
  dispatch: "c9a8f89443eff59981d8508351ee9e984d45c16838d2f855bdaf4e474ba95822",
} as const;
