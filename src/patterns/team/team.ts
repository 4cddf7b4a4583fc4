/**
 * Team: members work side by side and speak by broadcast; when all have spoken, the supervisor takes everything in, and
 * either broadcasts, which starts the next cycle, or reports, which ends the team. Each cycle of each participant is a run
 * that goes on with the conversation of the one before, so nothing of a team lives only in memory.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import { type UserMessage, userText } from '../../events/messages.ts';
import type { Seat } from '../../events/run-origin.ts';
import { succeeded } from '../../events/succeeded.ts';
import { type AgentRun, wasStopped } from '../agent-run.ts';
import { endedEmpty, ranOut } from '../out-of-budget.ts';
import type { Handle, RunResult, StartOptions } from '../steps.ts';
import { afterRound, type NamedResult, resting, UNCHECKED } from '../verification.ts';
import {
  broadcastsChecked,
  lastJudgement,
  memberBrief,
  memberFailed,
  nextCycle,
  nextJudgement,
  supervisorBrief,
} from './prompts.ts';

type Team = NonNullable<AgentDefinition['team']>;

/** How many turns somebody has over all cycles, and which setting says so. */
interface TurnLimit {
  readonly turns: number;
  readonly setting: 'memberMaxTurns' | 'supervisorMaxTurns' | 'maxTurns';
}

/** Where a participant stands between cycles. */
interface Participant {
  readonly name: string;
  limit: TurnLimit;
  turns: number;
  /** Its last run, and the agent that has the seat: the last of a handoff chain. */
  last: { readonly run: RunId; readonly agent: string } | undefined;
}

export async function runTeam(run: AgentRun, team: Team, request: UserMessage): Promise<RunResult> {
  const lead = team.supervisor ?? run.agent.name;
  const [ofLead, ...ofMembers] = await run.steps.step('limits', async () => await run.about([lead, ...team.members]));
  const supervisor = participant(lead, turnLimit(team.supervisorMaxTurns, 'supervisorMaxTurns', ofLead?.maxTurns));
  let active = team.members.map((name, index) =>
    participant(name, turnLimit(team.memberMaxTurns, 'memberMaxTurns', ofMembers[index]?.maxTurns)),
  );
  let said: readonly NamedResult[] = [];
  let before: readonly NamedResult[] = [];
  for (let cycle = 1; ; cycle += 1) {
    const at: Cycle = { cycle, request, lead, names: team.members, memberMaxTurns: team.memberMaxTurns, before };
    const worked = await memberCycle(run, at, active);
    if (worked === 'stopped') return cancelled(run, lead);
    if ('status' in worked) return await dissolve(run, cycle, active, worked);
    active = worked.remaining;
    said = afterRound(said, worked.broadcasts);
    const judged = await judge(run, at, supervisor, active.length === 0, worked.broadcasts);
    if (judged.spoke === undefined) return await dissolve(run, cycle, active, resting(judged, said));
    const spoken = { name: lead, result: judged };
    said = afterRound(said, [spoken]);
    before = [...worked.broadcasts, spoken];
  }
}

/** The team's word and the agent's own both hold; the tighter one counts. */
function turnLimit(ofTeam: number | undefined, setting: TurnLimit['setting'], own: number | undefined): TurnLimit {
  if (own !== undefined && own <= (ofTeam ?? own)) return { turns: own, setting: 'maxTurns' };
  return { turns: ofTeam ?? limits.maxTurns, setting };
}

interface Cycle {
  readonly cycle: number;
  readonly request: UserMessage;
  readonly lead: string;
  readonly names: readonly string[];
  readonly memberMaxTurns: number | undefined;
  /** What was broadcast in the cycle before. */
  readonly before: readonly NamedResult[];
}

const participant = (name: string, limit: TurnLimit): Participant => ({ name, limit, turns: 0, last: undefined });

function cancelled(run: AgentRun, lead: string): RunResult {
  const error = { code: 'cancelled', message: 'The team was cancelled.' };
  const report = { format: 'text' as const, body: error.message, synthetic: true };
  return { status: 'cancelled', report, finalAgent: lead, finalRun: run.run, turns: 0, error, verification: UNCHECKED };
}

interface CycleDone {
  /** Those that are still in the team. */
  readonly remaining: Participant[];
  readonly broadcasts: readonly NamedResult[];
}

/** Lets every active member work until it has broadcast, unless the team is cancelled or has nothing left to spend. */
async function memberCycle(run: AgentRun, at: Cycle, active: readonly Participant[]): Promise<CycleDone | RunResult | 'stopped'> {
  const handles: Handle[] = [];
  for (const member of active) {
    const brief = memberBrief(at.names, at.lead, member.name);
    const input =
      at.cycle === 1 ? opening(at.request, brief) : userText(`${nextCycle(at.cycle)}\n${broadcastsChecked(at.before)}`);
    handles.push(await take(run, at, member, 'member', input));
  }
  const results = await run.steps.settled(handles);
  if (await wasStopped(run, `cycle/${at.cycle}`, results)) return 'stopped';
  const out = ranOut(run, results);
  if (out !== undefined) return endedEmpty(run, out, broadcasts(active, results));
  const remaining: Participant[] = [];
  for (const [index, result] of results.entries()) {
    const member = active[index] as Participant;
    member.turns += result.turns;
    await seat(run, at, member, result);
    if (await staysIn(run, at.cycle, member, result)) remaining.push(member);
  }
  return { remaining, broadcasts: results.map((result, index) => ({ name: active[index]?.name ?? '', result })) };
}

const broadcasts = (active: readonly Participant[], results: readonly RunResult[]) =>
  results.flatMap((result, index) => (succeeded(result) ? [{ who: active[index]?.name ?? '', text: result.report.body }] : []));

/** Whoever answered has the seat from now on: with a handoff, the last of the chain, and then with its own limit. */
async function seat(run: AgentRun, at: Cycle, member: Participant, { finalRun, finalAgent }: RunResult): Promise<void> {
  const before = member.last?.agent ?? member.name;
  member.last = { run: finalRun, agent: finalAgent };
  if (finalAgent === before) return;
  const key = `cycle/${at.cycle}/member/${member.name}/limits`;
  const [about] = await run.steps.step(key, async () => await run.about([finalAgent]));
  member.limit = turnLimit(at.memberMaxTurns, 'memberMaxTurns', about?.maxTurns);
}

/** A member leaves with its final broadcast, by failing, or because its turns are used up; the last two are announced. */
async function staysIn(run: AgentRun, cycle: number, member: Participant, result: RunResult): Promise<boolean> {
  const left = succeeded(result) && result.spoke === 'final';
  const { turns, setting } = member.limit;
  const exhausted = member.turns >= turns ? `it has used its ${counted(turns, 'turn')} (${setting})` : undefined;
  const failure = succeeded(result) ? exhausted : (result.error?.message ?? result.status);
  if (!left && failure === undefined) return true;
  const key = `cycle/${cycle}/member/${member.name}`;
  if (!left) {
    const message = memberFailed(member.name, failure ?? '');
    const payload = { team: run.run, cycle, type: 'failure' as const, memberId: member.name, message, turnCount: member.turns };
    await run.steps.broadcast(`${key}/failed`, payload);
  }
  await exit(run, key, cycle, member, left ? 'said its last word' : (failure ?? ''));
  return false;
}

async function judge(
  run: AgentRun,
  at: Cycle,
  supervisor: Participant,
  alone: boolean,
  said: readonly NamedResult[],
): Promise<RunResult> {
  const last = alone || supervisor.limit.turns - supervisor.turns <= 1;
  const judging = `${last ? lastJudgement(at.cycle, alone) : nextJudgement(at.cycle)}\n${broadcastsChecked(said)}`;
  const brief = `${supervisorBrief(at.names)}\n${judging}`;
  const input = at.cycle === 1 ? opening(at.request, brief) : userText(judging);
  const handle = await take(run, at, supervisor, 'supervisor', input, last);
  const [judged] = (await run.steps.settled([handle])) as [RunResult];
  supervisor.turns += judged.turns;
  supervisor.last = { run: judged.finalRun, agent: judged.finalAgent };
  if (succeeded(judged)) return judged;
  const message = `At the supervisor ${supervisor.name} in cycle ${at.cycle}: ${judged.error?.message ?? judged.status}`;
  return { ...judged, turns: supervisor.turns, error: { code: 'supervisor_failed', ...judged.error, message } };
}

function take(
  run: AgentRun,
  at: Cycle,
  who: Participant,
  role: Seat['role'],
  input: UserMessage,
  alone = false,
): Promise<Handle> {
  const own = role === 'supervisor' && who.name === run.agent.name ? { own: true } : {};
  const place: Seat = {
    team: run.run,
    member: who.name,
    role,
    cycle: at.cycle,
    turnsBefore: who.turns,
    ...own,
    ...(alone ? { alone } : {}),
  };
  const options: StartOptions = {
    kind: 'seat',
    role,
    seat: place,
    reason: `cycle ${at.cycle} of the team of ${run.agent.name}`,
    maxTurns: Math.max(1, who.limit.turns - who.turns),
    continues: who.last?.run,
  };
  const key = role === 'member' ? `cycle/${at.cycle}/member/${who.name}` : `cycle/${at.cycle}/supervisor`;
  return run.steps.start(key, who.last?.agent ?? who.name, input, options);
}

/** The supervisor has ended the team, one way or the other: whoever is left, leaves. */
async function dissolve(run: AgentRun, cycle: number, active: readonly Participant[], result: RunResult): Promise<RunResult> {
  for (const member of active) await exit(run, `cycle/${cycle}/member/${member.name}`, cycle, member, 'the team has ended');
  return result;
}

async function exit(run: AgentRun, key: string, cycle: number, member: Participant, reason: string): Promise<void> {
  const payload = { team: run.run, memberId: member.name, cycle, reason };
  await run.steps.emit(`${key}/exited`, { type: 'member.exited', payload, aside: true });
}

function opening(request: UserMessage, brief: string): UserMessage {
  return { role: 'user', content: [...request.content, { type: 'text', text: `\n\n${brief}` }] };
}
