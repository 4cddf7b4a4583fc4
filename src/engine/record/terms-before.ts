/** Under which terms a run began, or went on last: its work is done again by the same models, within the same limits. */
import type { RunId, SessionId } from '../../base/ids.ts';
import { isJsonObject } from '../../base/json.ts';
import type { Budget } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { TreeTerms } from '../../events/going-on.ts';
import type { Ledger } from '../../ledger/port.ts';
import { readAll } from './read-all.ts';
import { startedUnder, termsIn } from './standing-events.ts';

export interface TermsBefore {
  readonly tree: TreeTerms;
  /** The limits that somebody gave it. Those of its file are not among them: the file may say otherwise by now. */
  readonly budget?: Budget;
}

export async function termsBefore(ledger: Ledger, session: SessionId, retries: RunId | undefined): Promise<TermsBefore> {
  if (retries === undefined) return { tree: {} };
  const events = await readAll(ledger, session, { run: retries, types: ['run.started', 'run.reopened', 'session.config'] });
  const started = events.find((event) => event.event_type === 'run.started');
  if (started?.event_type !== 'run.started') return { tree: termsIn(events) };
  const { budget: first = {}, timeLimit, tree } = started.payload;
  const own = limitsOfFile(events);
  const isGiven = (key: string, value: number | undefined): boolean =>
    value !== own[key] && !(key === 'wallMs' && timeLimit !== undefined);
  const given = Object.fromEntries(Object.entries(first).filter(([key, value]) => isGiven(key, value)));
  const { budget = {} } = startedUnder({ ...started.payload, budget: given }, events);
  return { tree: { ...tree, ...termsIn(events) }, ...(Object.keys(budget).length === 0 ? {} : { budget }) };
}

function limitsOfFile(events: readonly LedgerEvent[]): Readonly<Record<string, unknown>> {
  const setup = events.find((event) => event.event_type === 'session.config');
  const definition =
    setup?.event_type === 'session.config' && isJsonObject(setup.payload.definition) ? setup.payload.definition : {};
  const budget = definition['budget'];
  return isJsonObject(budget) ? { ...budget, wallMs: budget['wall'] } : {};
}
