/** What `ledger verify` and `doctor` say about a ledger that is not sound, and what to do about it. */
import { counted } from '../../base/wording.ts';
import type { DriftedRow, VerifyReport } from '../../ledger/port.ts';

type Damage = Exclude<VerifyReport, { kind: 'sound' }>;

/** In one line. */
export function damageText(report: Damage): string {
  if (report.kind === 'broken') return `broken at ${report.event}: ${report.why}`;
  if (report.kind === 'damaged') return `the file is damaged: ${report.why}`;
  const [first, ...others] = report.rows.map(driftText);
  return `drifted from its events: ${first}${others.length === 0 ? '' : `, and ${counted(others.length, 'more value')}`}`;
}

export function driftText({ table, name, column, found, expected, event }: DriftedRow): string {
  if (column === 'name') return `${table} ${name}: no event speaks of it`;
  if (table === 'feed' && column === 'astray')
    return `the order of all events has ${counted(Number(found), 'event')} of ${name} in a wrong place`;
  if (table === 'feed') return `the order of all events has ${found} of the ${counted(Number(expected), 'event')} of ${name}`;
  const why = event === null ? 'no event says so' : `${event} and those before it say ${expected ?? 'nothing'}`;
  return `${table} ${name}: ${column} is ${found ?? 'nothing'}, but ${why}`;
}

export function damageFix(report: Damage): string {
  if (report.kind === 'broken') return 'restore it from a copy; sessions before that event are whole';
  if (report.kind === 'drifted') return 'troupe ledger rebuild';
  return 'troupe ledger rebuild makes its indexes anew; if it is still damaged, restore it from a copy';
}
