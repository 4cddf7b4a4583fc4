/** The conversations in the ledger, newest first: whom they are with, how they began, how they stand. */
import { codeOf } from '../base/errors.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import type { Payloads, Verification } from '../events/catalogue.ts';
import type { ForkSource, ImportSource } from '../events/going-on.ts';
import { textOf } from '../events/messages.ts';
import { succeeded } from '../events/succeeded.ts';
import { readOrganisation } from '../groups/organisation.ts';
import type { SessionStanding } from '../ledger/forgetting/port.ts';
import { readEvents } from '../ledger/pages.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import type { Project } from '../project/project.ts';
import { addSpending, noSpending, spendingIn, spendingTypes } from '../projections/costs.ts';
import { groupOfSession } from '../projections/groups.ts';
import { firstLine } from '../projections/readable.ts';
import { type BundleOrigin, readBundleOrigin } from './bundle-origin.ts';
import { type ListQuery, listedRoots } from './project/listed-roots.ts';
import type { PsRow } from './run-rows.ts';
import { standingNext, type stateOf } from './standing.ts';

/** The stable shape behind `--json`: fields may be added, never changed. */
export interface SessionRow {
  readonly session: SessionId;
  readonly startedAt: number;
  /** When the newest prompt was given. */
  readonly lastAt: number;
  /** The run of the newest prompt: where the next page of a list goes on. */
  readonly newestRun: RunId;
  /** Who was asked last. */
  readonly agent: string;
  /** The group whose session it is. */
  readonly group: string | null;
  readonly prompts: number;
  /** The beginning of the first prompt; `null` when its events are gone. */
  readonly prompt: string | null;
  readonly state: ReturnType<typeof stateOf>;
  readonly status: ReturnType<typeof stateOf>;
  /** What the newest answer was found to be worth, once it has completed. */
  readonly verification: Verification['state'] | null;
  readonly cost: PsRow['cost'];
  /** What it was forked from. */
  readonly forked?: ForkSource;
  /** Neither is collected, and what is held is not forgotten. */
  readonly pinned: boolean;
  readonly held: boolean;
  /** All of it, or some of its events. */
  readonly forgotten: 'whole' | 'part' | null;
  /** The transcript that it was made of. */
  readonly imported?: Pick<ImportSource, 'program' | 'id'>;
  /** The bundle that it came in. */
  readonly bundle?: BundleOrigin;
}

const PROMPT_CHARACTERS = 80;

/** Newest first: a session stands where its newest prompt does. */
export async function readSessions(
  { ledger, engine }: Pick<Project, 'ledger' | 'engine'>,
  query: ListQuery,
): Promise<readonly SessionRow[]> {
  const organisation = await readOrganisation(ledger);
  const standings = await ledger.standings();
  const rows: SessionRow[] = [];
  for await (const newest of listedRoots(ledger, query)) {
    if (rows.length >= query.limit) break;
    const { session } = newest;
    const roots = await ledger.runs({ session, roots: true, limit: limits.runLookup });
    const oldest = roots.at(-1);
    // It stands further up, where its newest prompt is.
    if (roots[0]?.run !== newest.run || oldest === undefined) continue;
    const { state } = await standingNext(engine, newest);
    if (query.states?.includes(state) === false) continue;
    rows.push({
      ...{ session, startedAt: oldest.startedAt, lastAt: newest.startedAt, newestRun: newest.run, agent: newest.agent },
      group: groupOfSession(organisation, session)?.name ?? null,
      prompts: roots.length,
      ...{ state, status: state },
      ...keptAs(standings.get(session)),
      ...(await whatIsIn(ledger, newest)),
    });
  }
  return rows;
}

/** How many sessions with a prompt there are. */
export async function countSessions(ledger: Pick<Ledger, 'runs'>): Promise<number> {
  const sessions = new Set<SessionId>();
  for await (const { session } of listedRoots(ledger, {})) sessions.add(session);
  return sessions.size;
}

const keptAs = (standing: SessionStanding | undefined): Pick<SessionRow, 'pinned' | 'held' | 'forgotten'> => ({
  pinned: standing?.pinned === true,
  held: (standing?.hold ?? null) !== null,
  forgotten: standing?.forgotten == null ? null : standing.forgotten.upTo > 0 ? 'whole' : 'part',
});

/** Nothing, when the events were collected or are damaged: the session is listed all the same. */
async function whatIsIn(
  ledger: Ledger,
  { session, run }: RunRow,
): Promise<Pick<SessionRow, 'prompt' | 'verification' | 'cost' | 'forked' | 'imported' | 'bundle'>> {
  try {
    const [began, started] = await ledger.read({ session, types: ['session.started', 'run.started'], limit: 2 });
    let spent = noSpending();
    for await (const event of readEvents(ledger, { session, types: [...spendingTypes] }))
      spent = addSpending(spent, spendingIn(event) ?? noSpending());
    const { nanoUsd, unknownCalls } = spent;
    const [ended] = await ledger.read({ session, run, types: ['run.ended'], newest: true, limit: 1 });
    return {
      verification: ended?.event_type === 'run.ended' ? worthOf(ended.payload) : null,
      prompt: started?.event_type === 'run.started' ? promptOf(started.payload.input) : null,
      cost: { nanoUsd, unknownCalls },
      ...(began?.event_type === 'session.started' ? whereFrom(began.payload) : {}),
      ...present({ bundle: await readBundleOrigin(ledger, session) }),
    };
  } catch (error) {
    if (codeOf(error) === 'ledger_collected' || codeOf(error) === 'ledger_corrupt')
      return { prompt: null, verification: null, cost: null };
    throw error;
  }
}

const worthOf = ({ status, verification }: Payloads['run.ended']): SessionRow['verification'] =>
  succeeded({ status }) ? (verification?.state ?? null) : null;

function whereFrom({ forked, imported }: Payloads['session.started']): Pick<SessionRow, 'forked' | 'imported'> {
  const from = imported === undefined ? undefined : { program: imported.program, id: imported.id };
  return present({ forked, imported: from });
}

const promptOf = ({ content }: { readonly content: Parameters<typeof textOf>[0] }): string =>
  firstLine(textOf(content), PROMPT_CHARACTERS);
