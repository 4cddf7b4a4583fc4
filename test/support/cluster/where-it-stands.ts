/** For a test that waits for a run on Restate and waits in vain: what Restate has of its world, and what the ledger has. */
import { request } from '../../../src/cluster/request.ts';
import type { Ledger } from '../../../src/ledger/port.ts';

/** What is under way, what each run has hung up as its bell, and how its attempts went. */
const QUERIES = (name: string): readonly string[] => [
  `SELECT id, target, status, retry_count, last_failure, modified_at FROM sys_invocation WHERE target_service_name LIKE '${name}-%'`,
  `SELECT service_key, key, value_utf8 FROM state WHERE service_name LIKE '${name}-%'`,
  `SELECT id, index, entry_type, name, completed FROM sys_journal WHERE id IN (SELECT id FROM sys_invocation WHERE status <> 'completed' AND target_service_name LIKE '${name}-%')`,
];

export async function whereItStands(admin: string, name: string, ledger: Ledger): Promise<string> {
  const lines: string[] = [`\nwhere ${name} stands:`];
  for (const query of QUERIES(name)) {
    const answered = await request(`${admin}/query`, { query });
    lines.push(answered.kind === 'silent' ? answered.problem : answered.text);
  }
  lines.push(...(await eventsIn(ledger).catch(() => ['its ledger is closed'])));
  return `${lines.join('\n')}\n`;
}

async function eventsIn(ledger: Ledger): Promise<readonly string[]> {
  const sessions = new Set((await ledger.runs({})).map(({ session }) => session));
  const pages = await Promise.all([...sessions].map((session) => ledger.read({ session })));
  return pages.flat().map(({ position, run_id, event_type, step }) => `${position} ${run_id ?? ''} ${event_type} ${step ?? ''}`);
}
