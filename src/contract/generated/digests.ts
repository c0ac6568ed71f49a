// Generated from src/contract/robot_api.proto by scripts/generate.mjs. Edit the .proto, then run "npm run generate".

/** SHA-256 of the contract: of its inventory (names, numbers, skills), its documentation and its dispatch (structure). */
export const CONTRACT_DIGESTS = {
  inventory: "4e293fa9d38d1c5f3712d47f7fc975a8f33af77253a8a2107924de50051a8fe6",
  documentation: "826ba0091a3d390b9fca2aadd2b36bef9b118e6a7b47e23910b226f0c747a635",
  dispatch: "41ad4526cc26480307baee4c29b2261e882c50b043be9edb33add2b64065bf5a",
} as const;
