/** Every behaviour that engines have in common. */

import { assistantCases } from './assistants.ts';
import type { EngineCase } from './checks.ts';
import { conversationCases } from './conversations.ts';
import { forkCases } from './forks.ts';
import { reopenedCases } from './reopened.ts';
import { reopenedPatterns } from './reopened-patterns.ts';
import { runCases, signalCases, waitCases } from './runs.ts';
import { sentCases } from './sent.ts';
import { budgetCases, doubtCases, treeCases } from './trees.ts';

export const engineConformance: readonly EngineCase[] = [
  ...runCases,
  ...conversationCases,
  ...waitCases,
  ...signalCases,
  ...treeCases,
  ...budgetCases,
  ...doubtCases,
  ...assistantCases,
  ...sentCases,
  ...reopenedCases,
  ...reopenedPatterns,
  ...forkCases,
];
