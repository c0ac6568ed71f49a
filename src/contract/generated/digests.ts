// Generated from src/contract/robot_api.proto by scripts/generate.mjs. Edit the .proto, then run "npm run generate".

/** SHA-256 of the contract: of its inventory (names, numbers, skills), its documentation and its dispatch (structure). */
export const CONTRACT_DIGESTS = {
  inventory: "4e293fa9d38d1c5f3712d47f7fc975a8f33af77253a8a2107924de50051a8fe6",
  documentation: "38a36324db753fd5e096dfbc494a25bfd7833b5b2a4f22c57f2ce139b4880ad4",
  dispatch: "41ad4526cc26480307baee4c29b2261e882c50b043be9edb33add2b64065bf5a",
} as const;
