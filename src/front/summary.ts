/** What is said about a run at its end or later, as one object. */
import type { z } from 'zod';
import { unreachable } from '../base/errors.ts';
import { present } from '../base/present.ts';
import type { OpenWait, RunEnd } from '../engine/port.ts';
import type { Failure, Report, Verification } from '../events/catalogue.ts';
import type { ForkSource } from '../events/going-on.ts';
import type { CallCosts } from '../projections/costs.ts';
import type { GroupProgress } from '../projections/patterns/group-progress.ts';
import type { ShownPackage } from '../projections/patterns/task-packages.ts';
import { type CutBy, type RunNode, type RunTree, subtree, subtreeDoings } from '../projections/run-tree.ts';
import { failedBelow } from './failed-below.ts';
import type { tokens } from './shapes/runs.ts';

/** The stable shape behind `--json` of run, resume and show. Fields may be added, never changed. */
export interface RunSummary {
  readonly run: string;
  readonly session: string;
  readonly agent: string;
  readonly finalAgent: string | null;
  readonly status: RunNode['state'] | 'interrupted' | 'lost';
  readonly verification: Verification | null;
  readonly report: Report | null;
  readonly error: Failure | null;
  /** The answer ends where a limit was reached. */
  readonly cutShort: boolean;
  /** The name of that limit. */
  readonly cutBy: CutBy | null;
  readonly turns: number;
  /** Model calls that were answered, or may have been paid for without an answer. */
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** Calls that were not made because their exact arguments are gone. */
  readonly callsGone: number;
  /** What people were told whose words came too late to be heard by the run. */
  readonly unread: readonly string[];
  readonly runs: number;
  /** Runs below it that failed and stayed so: what they should have done is missing in the result. */
  readonly failedBelow: readonly Pick<RunNode, 'run' | 'agent' | 'role' | 'error'>[];
  /** As they were counted, and how many calls nobody has counted. */
  readonly tokens: ShownTokens;
  /** Billionths of a dollar that are known, and how many calls have no known price. */
  readonly cost: { readonly nanoUsd: number; readonly unknownCalls: number };
  readonly durationMs: number;
  readonly waits: readonly OpenWait[];
  /** Of a run that is a reflect loop: the rule that ended it, and what each iteration was judged to be worth. */
  readonly loop?: { readonly ended: GroupProgress['stop']; readonly scores: readonly (number | null)[] };
  /** Of a run that only had to plan: what it would hand over. */
  readonly packages?: readonly ShownPackage[];
  /** Of a run that had tasks worked on at places of their own: how many files their work changes, for `troupe apply`. */
  readonly toApply?: { readonly files: number };
  readonly forked?: ForkSource;
  readonly ledger: string;
}

export type ShownTokens = z.infer<typeof tokens>;

export const shownTokens = ({ inputTokens, outputTokens, cacheReadTokens, uncountedCalls }: CallCosts): ShownTokens => ({
  ...{ input: inputTokens, output: outputTokens, cached: cacheReadTokens, uncountedCalls },
});

export interface SummaryFacts {
  readonly session: string;
  readonly ledger: string;
  readonly now: number;
  readonly end?: RunEnd | undefined;
  readonly waits?: readonly OpenWait[] | undefined;
  readonly packages?: readonly ShownPackage[] | undefined;
}

export function summarise(tree: RunTree, node: RunNode, facts: SummaryFacts): RunSummary {
  const { runs, turns, toolCalls, gone = 0, spent } = subtreeDoings(tree, node.run);
  return {
    run: node.run,
    session: facts.session,
    agent: node.agent,
    finalAgent: node.finalAgent,
    status: statusOf(node, facts),
    verification: node.verification,
    report: node.report,
    error: node.error ?? (facts.end?.kind === 'interrupted' ? (facts.end.error ?? null) : null),
    cutShort: node.cutBy !== null && node.endedAt !== null,
    cutBy: node.endedAt === null ? null : node.cutBy,
    turns,
    modelCalls: spent.calls,
    toolCalls,
    callsGone: gone,
    unread: subtree(tree, node.run).flatMap(({ unread }) => unread),
    runs,
    failedBelow: failedBelow(tree, node).map(({ run, agent, role, error }) => ({ run, agent, role, error })),
    tokens: shownTokens(spent),
    cost: { nanoUsd: spent.nanoUsd, unknownCalls: spent.unknownCalls },
    durationMs: Math.max(0, (node.endedAt ?? facts.now) - node.startedAt),
    waits: facts.waits ?? (facts.end?.kind === 'waiting' ? facts.end.waits : []),
    ...loopOf(tree, node),
    ...present({ packages: facts.packages }),
    ...(node.merged === 0 ? {} : { toApply: { files: node.merged } }),
    ...(node.forked === null ? {} : { forked: node.forked }),
    ledger: facts.ledger,
  };
}

function loopOf({ progress }: RunTree, { run }: RunNode): Pick<RunSummary, 'loop'> {
  const group = progress.groups.get(run);
  const judged = group?.iterations.some(({ score }) => score !== null);
  if (group === undefined || (group.stop === null && !judged)) return {};
  return { loop: { ended: group.stop, scores: group.iterations.map(({ score }) => score) } };
}

function statusOf(node: RunNode, { end, waits = [] }: SummaryFacts): RunSummary['status'] {
  // Whoever was stopped at a question left a run that waits for the answer, and every other command says so.
  if (end?.kind === 'interrupted' && end.error === undefined && waits.length > 0) return 'waiting';
  if (end === undefined || end.kind === 'ended') return node.state;
  if (end.kind === 'waiting' || end.kind === 'paused' || end.kind === 'parked' || end.kind === 'lost') return end.kind;
  return end.kind === 'interrupted' ? 'interrupted' : unreachable(end);
}
