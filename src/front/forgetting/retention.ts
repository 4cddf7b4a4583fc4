/**
 * How long whole sessions are kept: as the first rule says that fits, or else as is said of all. Nothing that is pinned, held or
 * unfinished goes, whatever is said; and what nobody has said anything of stays for ever.
 */
import { artifactRetention } from '../../artifacts/retention.ts';
import type { Clock } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { recordedDefinition } from '../../engine/record/agent-setup.ts';
import type { SessionStanding } from '../../ledger/forgetting/port.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { GcReport, Ledger, RetentionPolicy, RunRow } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import type { Settings } from '../../project/settings.ts';
import { readableAge } from '../../projections/readable.ts';

export type Retention = NonNullable<Settings['retention']>;

export interface SessionVerdict {
  readonly session: SessionId;
  /** How long it is kept, when it goes. */
  readonly afterMs: number | null;
  readonly why: string;
}

/** Of every session that still holds something. */
export async function retentionVerdicts(ledger: Ledger, retention: Retention, now: number): Promise<readonly SessionVerdict[]> {
  const standings = await ledger.standings();
  const roots = await ledger.runs({ roots: true, limit: Number.MAX_SAFE_INTEGER });
  const verdicts: SessionVerdict[] = [];
  for (const [session, rows] of Map.groupBy(roots, (row) => row.session)) {
    const lastAt = await lastEventOf(ledger, session);
    if (lastAt === undefined) continue;
    const bound = boundBy(standings.get(session), rows);
    if (bound !== undefined) verdicts.push({ session, afterMs: null, why: bound });
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
  return { ...report, stays: verdicts.filter(({ session }) => !went.has(session)).map(({ session, why }) => ({ session, why })) };
}

/** The same for programs. */
export const collectedValue = ({ sessions, stays, ...report }: CollectedSessions) => ({
  ...{ ...report, sessions: [...sessions], stays: [...stays] },
});

function boundBy(standing: SessionStanding | undefined, rows: readonly RunRow[]): string | undefined {
  if (standing?.hold != null) return `held by ${standing.hold.by}: ${standing.hold.reason}`;
  if (standing?.pinned === true) return 'pinned';
  return rows.some(({ endedAt }) => endedAt === null) ? 'it has an unfinished run' : undefined;
}

async function verdictOf(
  ledger: Ledger,
  { sessions = 'forever', rules = [] }: Retention,
  rows: readonly RunRow[],
  ageMs: number,
): Promise<Pick<SessionVerdict, 'afterMs' | 'why'>> {
  let [time, by] = [sessions, ''];
  for (const [index, rule] of rules.entries()) {
    if (!(await fits(ledger, rule, rows))) continue;
    [time, by] = [rule.sessions, `, as rule ${index + 1} says`];
    break;
  }
  if (time === 'forever') return { afterMs: null, why: `kept for ever${by}` };
  const said = `kept for ${readableAge(time)}${by}; its last event is ${readableAge(Math.max(0, ageMs))} old`;
  return { afterMs: ageMs > time ? time : null, why: said };
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
async function lastEventOf(ledger: Ledger, session: SessionId): Promise<number | undefined> {
  try {
    const [last] = await ledger.read({ session, newest: true, limit: 1 });
    return last === undefined ? undefined : Date.parse(last.timestamp);
  } catch (error) {
    if (codeOf(error) !== 'ledger_collected') throw error;
    return undefined;
  }
}
