/** The conversations in the ledger, newest first: whom they are with, how they began, how they stand. */
import { codeOf } from '../base/errors.ts';
import type { SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { ForkSource, ImportSource } from '../events/going-on.ts';
import { textOf } from '../events/messages.ts';
import { readOrganisation } from '../groups/organisation.ts';
import type { SessionStanding } from '../ledger/forgetting/port.ts';
import { readEvents } from '../ledger/pages.ts';
import type { Ledger } from '../ledger/port.ts';
import type { Project } from '../project/project.ts';
import { addSpending, noSpending, spendingIn, spendingTypes } from '../projections/costs.ts';
import { groupOfSession } from '../projections/groups.ts';
import { firstLine } from '../projections/readable.ts';
import { type BundleOrigin, readBundleOrigin } from './bundle-origin.ts';
import type { PsRow } from './run-rows.ts';
import { standingNext, type stateOf } from './standing.ts';

/** The stable shape behind `--json`: fields may be added, never changed. */
export interface SessionRow {
  readonly session: SessionId;
  readonly startedAt: number;
  /** When the newest prompt was given. */
  readonly lastAt: number;
  /** Who was asked last. */
  readonly agent: string;
  /** The group whose session it is. */
  readonly group: string | null;
  readonly prompts: number;
  /** The beginning of the first prompt; `null` when its events are gone. */
  readonly prompt: string | null;
  readonly state: ReturnType<typeof stateOf>;
  readonly status: ReturnType<typeof stateOf>;
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

export interface ListedSessions {
  readonly rows: readonly SessionRow[];
  /** How many sessions there are. */
  readonly total: number;
}

const PROMPT_CHARACTERS = 80;

export async function readSessions(
  { ledger, engine }: Pick<Project, 'ledger' | 'engine'>,
  limit: number,
): Promise<ListedSessions> {
  const organisation = await readOrganisation(ledger);
  const standings = await ledger.standings();
  const sessions = Map.groupBy(await ledger.runs({ roots: true, limit: limits.runLookup }), ({ session }) => session);
  const rows: SessionRow[] = [];
  for (const [session, roots] of sessions) {
    const [newest, oldest] = [roots[0], roots.at(-1)];
    if (newest === undefined || oldest === undefined || rows.length >= limit) break;
    const { state } = await standingNext(engine, newest);
    rows.push({
      ...{ session, startedAt: oldest.startedAt, lastAt: newest.startedAt, agent: newest.agent },
      group: groupOfSession(organisation, session)?.name ?? null,
      prompts: roots.length,
      ...{ state, status: state },
      ...keptAs(standings.get(session)),
      ...(await whatIsIn(ledger, session)),
    });
  }
  return { rows, total: sessions.size };
}

const keptAs = (standing: SessionStanding | undefined): Pick<SessionRow, 'pinned' | 'held' | 'forgotten'> => ({
  pinned: standing?.pinned === true,
  held: (standing?.hold ?? null) !== null,
  forgotten: standing?.forgotten == null ? null : standing.forgotten.upTo > 0 ? 'whole' : 'part',
});

/** Nothing, when the events were collected or are damaged: the session is listed all the same. */
async function whatIsIn(
  ledger: Ledger,
  session: SessionId,
): Promise<Pick<SessionRow, 'prompt' | 'cost' | 'forked' | 'imported' | 'bundle'>> {
  try {
    const [began, started] = await ledger.read({ session, types: ['session.started', 'run.started'], limit: 2 });
    let spent = noSpending();
    for await (const event of readEvents(ledger, { session, types: [...spendingTypes] }))
      spent = addSpending(spent, spendingIn(event) ?? noSpending());
    const { nanoUsd, unknownCalls } = spent;
    return {
      prompt: started?.event_type === 'run.started' ? promptOf(started.payload.input) : null,
      cost: { nanoUsd, unknownCalls },
      ...(began?.event_type === 'session.started' ? whereFrom(began.payload) : {}),
      ...present({ bundle: await readBundleOrigin(ledger, session) }),
    };
  } catch (error) {
    if (codeOf(error) === 'ledger_collected' || codeOf(error) === 'ledger_corrupt') return { prompt: null, cost: null };
    throw error;
  }
}

function whereFrom({ forked, imported }: Payloads['session.started']): Pick<SessionRow, 'forked' | 'imported'> {
  const from = imported === undefined ? undefined : { program: imported.program, id: imported.id };
  return present({ forked, imported: from });
}

const promptOf = ({ content }: { readonly content: Parameters<typeof textOf>[0] }): string =>
  firstLine(textOf(content), PROMPT_CHARACTERS);
