/**
 * What somebody who looks elsewhere wants to be told of a session: it needs them, it has ended or failed, a budget is nearly used
 * up. Read from the ledger after a position, so that what was to be told is known by whoever goes on telling.
 */
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { Engine, OpenWait } from '../engine/port.ts';
import type { Budget, EventType } from '../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import { parentRun } from '../events/run-origin.ts';
import { succeeded } from '../events/succeeded.ts';
import { readEvents } from '../ledger/pages.ts';
import type { Ledger } from '../ledger/port.ts';
import { type BudgetUse, foldBudget, initialBudget } from '../projections/budget.ts';
import { firstLine } from '../projections/readable.ts';

export type NoticeKind = 'needs_you' | 'ended' | 'failed' | 'budget';

export interface Notice {
  /** The same for the same thing, however often it is told. */
  readonly id: string;
  readonly kind: NoticeKind;
  readonly at: string;
  readonly session: SessionId;
  readonly run: RunId;
  readonly agent: string;
  /** In a few words, and in some more. */
  readonly title: string;
  readonly text: string;
  /** The wait to be answered, where it is about one. */
  readonly wait?: Pick<OpenWait, 'run' | 'wait' | 'kind'> | undefined;
}

export interface NoticesFound {
  readonly notices: readonly Notice[];
  /** Everything up to here was looked at. */
  readonly position: number;
}

const TYPES: readonly EventType[] = [
  ...(['run.started', 'run.ended', 'approval.asked', 'task.clarify', 'budget.reserved', 'budget.settled'] as const),
];

/** Of the roots of a session; what was asked and is answered by now needs nobody. */
export async function noticesAfter(
  { ledger, engine }: { readonly ledger: Pick<Ledger, 'read'>; readonly engine: Pick<Engine, 'waits'> },
  session: SessionId,
  after: number,
): Promise<NoticesFound> {
  const roots = new Map<string, EventOf<'run.started'>>();
  const agents = new Map<string, string>();
  const uses = initialBudget();
  const notices: Notice[] = [];
  const asked: LedgerEvent[] = [];
  let position = after;
  for await (const event of readEvents(ledger, { session, types: TYPES })) {
    const before = new Map(uses);
    foldBudget(uses, event);
    if (event.event_type === 'run.started') {
      agents.set(event.run_id, event.payload.agent);
      if (parentRun(event.payload) === undefined) roots.set(event.run_id, event);
    }
    if (event.position <= after) continue;
    position = event.position;
    if (event.event_type === 'approval.asked' || event.event_type === 'task.clarify') asked.push(event);
    const root = roots.get(event.run_id);
    if (event.event_type === 'run.ended' && root !== undefined) notices.push(endNotice(event, root.payload.agent));
    if (event.event_type === 'budget.settled')
      for (const scope of event.payload.scopes) {
        const start = roots.get(scope);
        const limit = start?.payload.budget;
        if (start === undefined || limit === undefined) continue;
        if (shareOf(before.get(scope), limit) < SHARE && shareOf(uses.get(scope), limit) >= SHARE)
          notices.push(budgetNotice(event, start));
      }
  }
  const waits = asked.length === 0 ? [] : (await Promise.all([...roots.keys()].map((run) => engine.waits(run as RunId)))).flat();
  for (const event of asked) {
    const wait = waits.find((one) => one.run === event.run_id && 'wait' in event.payload && one.wait === event.payload.wait);
    if (wait !== undefined) notices.push(waitNotice(event, wait));
  }
  return { notices, position };
}

/** From here on it is nearly used up. */
const SHARE = 0.8;
const NANO = 1_000_000_000;

function shareOf(use: BudgetUse | undefined, { usd, tokens, calls }: Budget): number {
  if (use === undefined) return 0;
  const { spent } = use;
  const shares = [
    [spent.nanoUsd / NANO, usd],
    [spent.tokens, tokens],
    [spent.calls, calls],
  ] as const;
  return Math.max(...shares.map(([value, limit]) => (limit === undefined || limit === 0 ? 0 : value / limit)));
}

const about = ({ event_id: id, timestamp: at, session_id: session, run_id: run }: LedgerEvent) => ({
  ...{ id: id as string, at, session: session as SessionId, run: run as RunId },
});

const short = (text: string): string => firstLine(text, limits.noticeCharacters);

function endNotice(event: EventOf<'run.ended'>, agent: string): Notice {
  const { status, report, error } = event.payload;
  const isFailed = status === 'failed' || status === 'budget_exhausted';
  const words = succeeded({ status }) ? report.body : (error?.message ?? report.body);
  const title = isFailed ? `${agent} failed` : `${agent} has ended: ${status.replaceAll('_', ' ')}`;
  return { ...about(event), kind: isFailed ? 'failed' : 'ended', agent, title, text: short(words) };
}

function budgetNotice(event: LedgerEvent, start: EventOf<'run.started'>): Notice {
  const { agent } = start.payload;
  const text = 'Of its budget 80 % are used.';
  return { ...about(event), run: start.run_id as RunId, kind: 'budget', agent, title: `${agent} runs out of budget`, text };
}

function waitNotice(event: LedgerEvent, { run, wait, kind, agent, question }: OpenWait): Notice {
  const title = kind === 'permission' ? `${agent} asks for a permission` : `${agent} has a question`;
  return { ...about(event), kind: 'needs_you', agent, title, text: short(question), wait: { run, wait, kind } };
}
