/**
 * Forgetting as somebody asks for it: a session, a run with all below it, one event, or every event that holds a text. First it
 * is found out what would go and what would stay elsewhere, then it goes whole or not at all.
 */
import { type EventId, eventId, type RunId, type SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { ForgetPart, ForgottenOutcome, Signed } from '../../ledger/forgetting/port.ts';
import { nothingLeft, readEvents } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { standInFor } from '../../ledger/rules/stand-in.ts';
import { clearAway, filesWith, foldersOf } from './leftovers.ts';
import { formsOf, holdsAny, positionsWith } from './matching.ts';

type ForgetTarget =
  | { readonly kind: 'session'; readonly session: SessionId }
  | { readonly kind: 'run'; readonly session: SessionId; readonly run: RunId }
  | { readonly kind: 'event'; readonly session: SessionId; readonly event: EventId; readonly position: number }
  /** What was cut off is brought to its end. */
  | { readonly kind: 'nothing'; readonly session?: undefined }
  | { readonly kind: 'matching'; readonly text: string; readonly session: SessionId | undefined };

export interface WantedForget {
  readonly target: ForgetTarget;
  readonly withForks: boolean;
}

/** Where the state of the project is. */
export interface ForgetPlaces {
  readonly ledger: Ledger;
  readonly home: string;
  /** The file of the ledger, if it is one. */
  readonly file: string;
}

export interface ForgetPlan {
  readonly parts: readonly ForgetPart[];
  readonly sessions: readonly SessionId[];
  /** Forks of these sessions, and of those, that are not among them. */
  readonly forks: readonly SessionId[];
  readonly pinned: readonly SessionId[];
  /** Forgotten before, whole, and cut off. */
  readonly unfinished: readonly SessionId[];
  /** Folders beside the ledger that go too. */
  readonly folders: readonly string[];
  readonly text: string | undefined;
  readonly outcome: Extract<ForgottenOutcome, { readonly kind: 'forgotten' }>;
}

export type Forgotten = ForgetPlan['outcome'] & {
  /** Files beside the ledger that still name a session, or hold the text. */
  readonly files: readonly string[];
};

export async function planForget(
  places: ForgetPlaces,
  wanted: WantedForget,
  signed: Signed,
): Promise<Result<ForgetPlan, Failure>> {
  const { ledger, home } = places;
  const parts = await partsOf(ledger, wanted.target);
  if (!parts.ok) return parts;
  const mine = new Set(parts.value.map(({ session }) => session));
  const forks = await forksOf(ledger, mine);
  const withForks = wanted.withForks ? await withForked(ledger, wanted.target, parts.value, forks) : ok(parts.value);
  if (!withForks.ok) return withForks;
  const sessions = [...new Set(withForks.value.map(({ session }) => session))];
  const outcome = await ledger.forget({ parts: withForks.value, ...signed, dryRun: true });
  if (outcome.kind !== 'forgotten') return fail(whyNot(outcome));
  const standings = await ledger.standings();
  return ok({
    ...{ parts: withForks.value, sessions, outcome },
    forks: forks.filter((session) => !sessions.includes(session) && standings.get(session)?.forgotten == null),
    pinned: sessions.filter((session) => standings.get(session)?.pinned === true),
    unfinished: [...standings.values()].flatMap(({ session, forgotten }) =>
      forgotten?.unfinished === true && forgotten.upTo > 0 ? [session] : [],
    ),
    folders: await foldersOf(home, wholeOf(withForks.value)),
    text: wanted.target.kind === 'matching' ? wanted.target.text : undefined,
  });
}

export async function carryOut(places: ForgetPlaces, plan: ForgetPlan, signed: Signed): Promise<Result<Forgotten, Failure>> {
  const outcome = await places.ledger.forget({ parts: plan.parts, ...signed, dryRun: false });
  if (outcome.kind !== 'forgotten') return fail(whyNot(outcome));
  // The folders of one that was cut off before it got here, too.
  await clearAway(places.home, [...plan.folders, ...(await foldersOf(places.home, plan.unfinished))]);
  const texts = plan.text === undefined ? wholeOf(plan.parts) : formsOf(plan.text);
  return ok({ ...outcome, files: await filesWith(places.home, places.file, texts) });
}

const wholeOf = (parts: readonly ForgetPart[]): readonly SessionId[] =>
  parts.flatMap(({ session, events }) => (events === undefined ? [session] : []));

async function partsOf(ledger: Ledger, target: ForgetTarget): Promise<Result<readonly ForgetPart[], Failure>> {
  const { session } = target;
  if (target.kind === 'nothing') return ok([]);
  if (target.kind === 'session') return ok([{ session: target.session }]);
  if (target.kind === 'matching') {
    const found = await positionsWith(ledger, target.text, session && new Set([session]));
    const parts: ForgetPart[] = [];
    for (const [one, positions] of found) {
      const part = await partAt(ledger, one, positions, target.text);
      if (!part.ok) return part;
      parts.push(part.value);
    }
    return ok(parts);
  }
  if (target.kind === 'event') {
    const part = await partAt(ledger, target.session, [target.position]);
    return part.ok ? ok([part.value]) : part;
  }
  const roots = await ledger.runs({ session: target.session, roots: true, limit: 2 });
  if (roots.length === 1 && roots[0]?.run === target.run) return ok([{ session: target.session }]);
  const positions: number[] = [];
  for (const run of await treeOf(ledger, target.session, target.run))
    for await (const { position } of readEvents(ledger, { session: target.session, run })) positions.push(position);
  const part = await partAt(ledger, target.session, positions);
  return part.ok ? ok([part.value]) : part;
}

/** The run and all below it. */
async function treeOf(ledger: Ledger, session: SessionId, run: RunId): Promise<readonly RunId[]> {
  const rows = await ledger.runs({ session, limit: limits.runLookup });
  const tree: RunId[] = [run];
  for (const above of tree) tree.push(...rows.filter(({ parent }) => parent === above).map((row) => row.run));
  return tree;
}

async function partAt(
  ledger: Ledger,
  session: SessionId,
  positions: readonly number[],
  text?: string,
): Promise<Result<ForgetPart, Failure>> {
  if (positions.length > limits.forgetEvents)
    return fail({
      code: 'too_much',
      message: `${session} has ${positions.length} such events, more than ${limits.forgetEvents} (forgetEvents).`,
      fix: `Forget the whole session: troupe forget ${session}`,
    });
  const forms = text === undefined ? undefined : formsOf(text);
  const goes = forms && ((one: string): boolean => holdsAny(one, forms));
  const events: { position: number; payload: string }[] = [];
  for (const position of positions) {
    const [event] = await ledger.read({ session, after: position - 1, limit: 1 }).catch(nothingLeft);
    if (event?.position !== position) return fail(noEvent(session, position));
    const payload = standInFor(event.event_type, event.payload, goes);
    if (payload === undefined)
      return fail({
        code: 'forget_whole',
        message: `Nothing of its type could stand in for ${eventId(session, position)}.`,
        fix: `Forget the whole session: troupe forget ${session}`,
      });
    events.push({ position, payload });
  }
  return ok({ session, events });
}

const noEvent = (session: SessionId, position: number): Failure => ({
  code: 'unknown_event',
  message: `There is nothing at ${eventId(session, position)} any more, or never was.`,
  fix: `See which events there are: troupe logs ${session}`,
});

/** What was made from these sessions, and from that. */
async function forksOf(ledger: Ledger, sessions: ReadonlySet<SessionId>): Promise<readonly SessionId[]> {
  const roots = await ledger.runs({ roots: true, limit: Number.MAX_SAFE_INTEGER });
  const from = new Map<SessionId, string>();
  for (const session of new Set(roots.map((row) => row.session))) {
    const [first] = await ledger.read({ session, types: ['session.started'], limit: 1 }).catch(nothingLeft);
    if (first?.event_type === 'session.started' && first.payload.forked !== undefined)
      from.set(session, first.payload.forked.session);
  }
  const found = new Set<string>(sessions);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const [fork, source] of from) if (found.has(source)) found.add(fork);
  }
  return [...from.keys()].filter((session) => found.has(session) && !sessions.has(session));
}

/** Of a whole session its forks go whole; of single events what stands at the same places of the forks, as far as they reach. */
async function withForked(
  ledger: Ledger,
  target: ForgetTarget,
  parts: readonly ForgetPart[],
  forks: readonly SessionId[],
): Promise<Result<readonly ForgetPart[], Failure>> {
  if (target.kind === 'matching' && target.session !== undefined) {
    const more: ForgetPart[] = [];
    for (const session of forks) {
      const part = await partsOf(ledger, { ...target, session });
      if (!part.ok) return part;
      more.push(...part.value);
    }
    return ok([...parts, ...more]);
  }
  const [first] = parts;
  if (first?.events === undefined) return ok([...parts, ...forks.map((session) => ({ session }))]);
  const positions = first.events.map(({ position }) => position);
  const more: ForgetPart[] = [];
  for (const session of forks) {
    const kept = await keptBy(ledger, session);
    const part = await partAt(
      ledger,
      session,
      positions.filter((position) => position <= kept),
    );
    if (!part.ok) return part;
    if (part.value.events?.length !== 0) more.push(part.value);
  }
  return ok([...parts, ...more]);
}

/** How many events a fork began with. */
async function keptBy(ledger: Ledger, session: SessionId): Promise<number> {
  const [first] = await ledger.read({ session, limit: 1 });
  const event = first?.event_type === 'session.started' ? first.payload.forked?.event : undefined;
  return Number(event?.split('.').at(-1) ?? 0);
}

function whyNot(outcome: Exclude<ForgottenOutcome, { readonly kind: 'forgotten' }>): Failure {
  const { session } = outcome;
  if (outcome.kind === 'held') {
    const { by, at, reason } = outcome.hold;
    return {
      code: 'session_held',
      message: `${session} is held by ${by} since ${new Date(at).toISOString()}: ${reason}`,
      fix: `Nothing of it is forgotten until it is released: troupe sessions release ${session}`,
    };
  }
  if (outcome.kind === 'unfinished')
    return {
      code: 'session_unfinished',
      message: `${session} has a run that is not finished.`,
      fix: `Finish it or end it first: troupe cancel ${session}`,
    };
  if (outcome.kind === 'worked_on')
    return { code: 'session_busy', message: `Somebody works on ${session}.`, fix: 'Wait until it is done.' };
  if (outcome.kind === 'pinned')
    return { code: 'session_pinned', message: `${session} is pinned.`, fix: `Unpin it first: troupe sessions unpin ${session}` };
  return {
    code: 'unknown_session',
    message: `There is no session ${session} in this ledger.`,
    fix: 'See which there are: troupe sessions --all',
  };
}
