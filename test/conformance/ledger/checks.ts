/**
 * What every ledger store must do, as data: a test runner of any kind opens the store and runs each check. The list
 * covers the promises of port.ts; what only one store has (its file, its errors) is tested beside that store.
 */
import { appendChecks } from './append.ts';
import { artifactChecks } from './artifacts.ts';
import { forgettingChecks } from './forgetting.ts';
import { leaseChecks } from './lease.ts';
import { keepingChecks, payloadChecks } from './payload.ts';
import { readChecks } from './read.ts';
import { sealChecks } from './seal.ts';
import type { ConformanceCheck } from './support.ts';

export const ledgerConformance: readonly ConformanceCheck[] = [
  ...appendChecks,
  ...readChecks,
  ...payloadChecks,
  ...sealChecks,
  ...leaseChecks,
  ...keepingChecks,
  ...artifactChecks,
  ...forgettingChecks,
];
