/**
 * One run of one agent: advisors, then the core, then the router's choice, then the handoff. The core is exactly one of a
 * plain loop and the patterns that take its place. All of it recurses: any agent named anywhere may declare any pattern.
 */
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { ok, type Result } from '../base/result.ts';
import type { UserMessage } from '../events/messages.ts';
import type { LoopAs, Seat } from '../events/run-origin.ts';
import type { Ending } from '../loop/port.ts';
import { withAdvice } from './advisors.ts';
import { type AgentRun, type Answered, resultOf } from './agent-run.ts';
import { evaluateExit, plainJudgement } from './group/evaluation.ts';
import { runGroup } from './group/group.ts';
import { handOver } from './handoff.ts';
import { followRoute, routeExit } from './router.ts';
import type { RunResult } from './steps.ts';
import { announce, seatedLoop } from './team/seat.ts';
import { runTeam } from './team/team.ts';
import { resting } from './verification.ts';

const NOT_YET = ['dispatch', 'architect'] as const;

/** Keys that the agent declares and that cannot be run yet. */
export function notYet(agent: AgentDefinition): string[] {
  return NOT_YET.filter((key) => agent[key] !== undefined);
}

export async function runAgent(run: AgentRun): Promise<RunResult> {
  if (run.seat?.role === 'supervisor') return await supervise(run, run.seat);
  if (run.loopOnly !== undefined) return await ownLoop(run, run.loopOnly);
  if (run.goesOn) return await goOn(run);
  const advised = await withAdvice(run);
  if ('ended' in advised) return advised.ended;
  // Whoever answers last takes the seat in the team: here, or at the end of the chain.
  const passesOn = run.agent.handoff !== undefined || run.agent.router !== undefined;
  const made = await core(run, advised.request, passesOn ? undefined : run.seat);
  const own = { ...made, result: resting(made.result, advised.advice) };
  const answered = await handOver(run, await followRoute(run, own));
  const passedOn = run.agent.handoff !== undefined || own.route !== undefined;
  return run.seat === undefined || passedOn ? answered.result : await announce(run, run.seat, answered.result);
}

/** Whoever answered last time is asked again. Its patterns were for the first request: now it is only its conversation. */
async function goOn(run: AgentRun): Promise<RunResult> {
  if (run.seat === undefined) return resultOf(run, await run.loop({ input: run.input, reports: true }));
  return await announce(run, run.seat, (await seatedLoop(run, run.input, run.seat)).result);
}

/** One cycle in the supervisor's seat. What it reports goes on along its own handoff; what it broadcasts stays in the team. */
async function supervise(run: AgentRun, seat: Seat): Promise<RunResult> {
  const judged = await seatedLoop(run, run.input, seat);
  if (judged.result.spoke !== undefined) return await announce(run, seat, judged.result);
  return seat.own === true ? judged.result : (await handOver(run, judged)).result;
}

/** What a group asks its orchestrator or evaluator: their own words, without the patterns they declare. */
async function ownLoop(run: AgentRun, as: LoopAs): Promise<RunResult> {
  const { input } = run;
  switch (as) {
    case 'planner':
      return resultOf(run, await run.loop({ input, reports: false, plain: freeWords }));
    case 'evaluator':
      return resultOf(run, await run.loop({ input, exits: [evaluateExit()], reports: false, plain: plainJudgement }));
    case 'speaker':
      return resultOf(run, await run.loop({ input, reports: false }));
    case 'self':
      return resultOf(run, await run.loop({ input, reports: true }));
  }
}

/** A plan is not the answer, so the form that the answer must have does not bind it. */
const freeWords = (body: string): Result<Ending, string> =>
  ok({ success: true, report: { format: 'markdown', body }, claims: [] });

async function core(run: AgentRun, request: UserMessage, seat: Seat | undefined): Promise<Answered> {
  if (run.agent.team !== undefined) return { result: await runTeam(run, run.agent.team, request) };
  if (run.agent.group !== undefined) return { result: await runGroup(run, run.agent.group, request) };
  if (seat !== undefined) return await seatedLoop(run, request, seat);
  const exits = run.agent.router === undefined ? [] : [routeExit(run.agent.router.destinations)];
  const checked = await run.loop({ input: request, exits, reports: true });
  return { result: resultOf(run, checked), route: checked.exit?.value as Answered['route'] };
}
