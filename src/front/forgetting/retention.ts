/**
 * How long sessions are kept, and events of some types in them: as the first rule says that fits, or else as is said of all.
 * Nothing that is pinned, held or unfinished goes, whatever is said; and what nobody has said anything of stays for ever.
 */
import { artifactRetention } from '../../artifacts/retention.ts';
import type { Clock } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { recordedDefinition } from '../../engine/record/agent-setup.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { SessionStanding } from '../../ledger/forgetting/port.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { GcReport, Ledger, RetentionPolicy, RunRow } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import type { Settings } from '../../project/settings.ts';
import { readableAge } from '../../projections/readable.ts';
import { type AgedEvents, collectEvents } from './aged-events.ts';

export type Retention = NonNullable<Settings['retention']>;

export interface SessionVerdict {
  readonly session: SessionId;
  /** How long it is kept, when it goes. */
  readonly afterMs: number | null;
  readonly why: string;
  /** If it stays: the types of its events whose time is over. */
  readonly aged: readonly EventType[];
}

/** Of every session that still holds something. */
export async function retentionVerdicts(ledger: Ledger, retention: Retention, now: number): Promise<readonly SessionVerdict[]> {
  const standings = await ledger.standings();
  const roots = await ledger.runs({ roots: true, limit: Number.MAX_SAFE_INTEGER });
  const verdicts: SessionVerdict[] = [];
  for (const [session, rows] of Map.groupBy(roots, (row) => row.session)) {
    const last = await lastEventOf(ledger, session);
    if (last === undefined) continue;
    const lastAt = Date.parse(last.timestamp);
    // What came in a bundle does not go on, ended or not.
    const bound = boundBy(standings.get(session), last.event_type === 'session.imported' ? [] : rows);
    if (bound !== undefined) verdicts.push({ session, afterMs: null, why: bound, aged: [] });
    else verdicts.push({ session, ...(await verdictOf(ledger, retention, rows, now - lastAt)) });
  }
  return verdicts;
}

/** One collection for each time that sessions are kept: in each it is asked again whether they may go. */
export async function collectBy(
  ledger: Pick<Ledger, 'gc'>,
  verdicts: readonly SessionVerdict[],
  policy: Omit<RetentionPolicy, 'olderThanMs' | 'only'>,
): Promise<GcReport> {
  const going = Map.groupBy(
    verdicts.flatMap(({ session, afterMs }) => (afterMs === null ? [] : [{ session, afterMs }])),
    ({ afterMs }) => afterMs,
  );
  // Artifacts have times of their own, also when no session goes.
  if (going.size === 0) return await ledger.gc({ ...policy, olderThanMs: 0, only: [] });
  const reports: GcReport[] = [];
  for (const [olderThanMs, those] of going)
    reports.push(await ledger.gc({ ...policy, olderThanMs, only: those.map(({ session }) => session) }));
  return {
    sessions: reports.flatMap(({ sessions }) => sessions),
    payloads: reports.reduce((sum, { payloads }) => sum + payloads, 0),
    bytes: reports.reduce((sum, { bytes }) => sum + bytes, 0),
    dryRun: policy.dryRun,
  };
}

export interface CollectedSessions extends GcReport {
  /** Sessions that keep what they hold, and why. */
  readonly stays: readonly { readonly session: SessionId; readonly why: string }[];
  /** Of sessions that stay: events of types that are kept for a shorter time. */
  readonly events: readonly AgedEvents[];
  /** What could not be cleared away now. */
  readonly left: readonly string[];
}

/** Payloads of old sessions go, as the settings say, or those that are older than this. */
export async function collectOld(
  { ledger, config }: Pick<Project, 'ledger' | 'config'>,
  clock: Clock,
  { olderThanMs, dryRun }: { readonly olderThanMs: number | undefined; readonly dryRun: boolean },
): Promise<CollectedSessions> {
  const now = clock.now();
  const attachments = await artifactRetention(ledger, clock, config.artifacts);
  const verdicts = await retentionVerdicts(ledger, { ...config.retention, ...present({ sessions: olderThanMs }) }, now);
  const report = await collectBy(ledger, verdicts, { now, dryRun, attachments });
  const went = new Set<string>(report.sessions);
  const staying = verdicts.filter(({ session }) => !went.has(session));
  const aged = staying.map(({ session, aged: types }) => ({ session, types })).filter(({ types }) => types.length > 0);
  const { events, payloads, bytes, left } = await collectEvents({ ledger, home: config.home }, aged, { now, dryRun });
  return {
    ...report,
    ...{ payloads: report.payloads + payloads, bytes: report.bytes + bytes, events, left },
    stays: staying.map(({ session, why }) => ({ session, why })),
  };
}

/** The same for programs. */
export const collectedValue = ({ sessions, stays, events, left, ...report }: CollectedSessions) => ({
  ...{ ...report, sessions: [...sessions], events: [...events], stays: [...stays], left: [...left] },
});

function boundBy(standing: SessionStanding | undefined, rows: readonly RunRow[]): string | undefined {
  if (standing?.hold != null) return `held by ${standing.hold.by}: ${standing.hold.reason}`;
  if (standing?.pinned === true) return 'pinned';
  return rows.some(({ endedAt }) => endedAt === null) ? 'it has an unfinished run' : undefined;
}

async function verdictOf(
  ledger: Ledger,
  retention: Retention,
  rows: readonly RunRow[],
  ageMs: number,
): Promise<Omit<SessionVerdict, 'session'>> {
  const { sessions, events, by } = await timesOf(ledger, retention, rows);
  const isOver = (time: Time | undefined): boolean => time !== undefined && time !== 'forever' && ageMs > time;
  const aged = (Object.keys(events) as EventType[]).filter((type) => isOver(events[type]));
  if (sessions === 'forever') return { afterMs: null, why: `kept for ever${by}`, aged };
  const why = `kept for ${readableAge(sessions)}${by}; its last event is ${readableAge(Math.max(0, ageMs))} old`;
  return { afterMs: isOver(sessions) ? sessions : null, why, aged };
}

type Time = NonNullable<Retention['sessions']>;

interface Times {
  readonly sessions: Time;
  readonly events: NonNullable<Retention['events']>;
  /** Which rule says so. */
  readonly by: string;
}

/** A rule that says how long a session is kept, and nothing of its events, keeps all of them as long. */
async function timesOf(
  ledger: Ledger,
  { sessions = 'forever', events = {}, rules = [] }: Retention,
  rows: readonly RunRow[],
): Promise<Times> {
  for (const [index, rule] of rules.entries())
    if (await fits(ledger, rule, rows))
      return { sessions: rule.sessions ?? sessions, events: rule.events ?? {}, by: `, as rule ${index + 1} says` };
  return { sessions, events, by: '' };
}

type Rule = NonNullable<Retention['rules']>[number];

/** All that a rule names must fit. */
async function fits(ledger: Ledger, { agent, tag, session }: Rule, rows: readonly RunRow[]): Promise<boolean> {
  const [first] = rows;
  if (first === undefined || (session !== undefined && session !== first.session)) return false;
  if (agent !== undefined && !rows.some((row) => row.agent === agent)) return false;
  return tag === undefined || (await tagsOf(ledger, first.session)).has(tag);
}

/** Those of its agents, as they were recorded. */
async function tagsOf(ledger: Ledger, session: SessionId): Promise<ReadonlySet<string>> {
  const tags = new Set<string>();
  for await (const event of readEvents(ledger, { session, types: ['session.config'] }))
    if (event.event_type === 'session.config') for (const tag of recordedDefinition(event.payload).tags ?? []) tags.add(tag);
  return tags;
}

/** `undefined`: what it held is gone. */
async function lastEventOf(ledger: Ledger, session: SessionId): Promise<LedgerEvent | undefined> {
  try {
    return (await ledger.read({ session, newest: true, limit: 1 }))[0];
  } catch (error) {
    if (codeOf(error) !== 'ledger_collected') throw error;
    return undefined;
  }
}
