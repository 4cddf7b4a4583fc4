/**
 * What every ledger store must do, as data: a test runner of any kind opens the store and runs each check. The list
 * covers the promises of port.ts; what only one store has (its file, its errors) is tested beside that store.
 */
import { appendChecks } from './conformance-append.ts';
import { leaseChecks } from './conformance-lease.ts';
import { keepingChecks, payloadChecks } from './conformance-payload.ts';
import { readChecks } from './conformance-read.ts';
import { sealChecks } from './conformance-seal.ts';
import type { ConformanceCheck } from './conformance-support.ts';

export const ledgerConformance: readonly ConformanceCheck[] = [
  ...appendChecks,
  ...readChecks,
  ...payloadChecks,
  ...sealChecks,
  ...leaseChecks,
  ...keepingChecks,
];
