/** Bounds of coding agents that do work. */

export const executorLimits = {
  // what executors.yaml may hold
  executorTextCharacters: 4_000,
  executorArguments: 100,
  executorVariables: 100,
} as const;
