/** Every behaviour that engines have in common. */
import type { EngineCase } from './engine-conformance.ts';
import { assistantCases } from './engine-conformance-assistants.ts';
import { runCases, signalCases, waitCases } from './engine-conformance-runs.ts';
import { budgetCases, doubtCases, treeCases } from './engine-conformance-trees.ts';

export const engineConformance: readonly EngineCase[] = [
  ...runCases,
  ...waitCases,
  ...signalCases,
  ...treeCases,
  ...budgetCases,
  ...doubtCases,
  ...assistantCases,
];
