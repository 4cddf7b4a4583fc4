/**
 * Team: members work side by side and speak by broadcast; when all have spoken, the supervisor takes everything in, and
 * either broadcasts, which starts the next cycle, or reports, which ends the team. Each cycle of each participant is a run
 * that goes on with the conversation of the one before, so nothing of a team lives only in memory.
 */
import type { AgentDefinition } from '../agents/definition.ts';
import type { RunId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { type UserMessage, userText } from '../events/messages.ts';
import { type AgentRun, succeeded } from './agent-run.ts';
import { memberBrief, memberFailed, nextCycle, nextJudgement, supervisorBrief } from './prompts.ts';
import type { Handle, RunResult, Seat, StartOptions } from './steps.ts';

type Team = NonNullable<AgentDefinition['team']>;

/** Where a participant stands between cycles. */
interface Participant {
  readonly name: string;
  readonly maxTurns: number;
  turns: number;
  /** Its last run, and the agent that has the seat: the last of a handoff chain. */
  last: { readonly run: RunId; readonly agent: string } | undefined;
}

export async function runTeam(run: AgentRun, team: Team, request: UserMessage): Promise<RunResult> {
  const lead = team.supervisor ?? run.agent.name;
  const supervisor = participant(lead, team.supervisorMaxTurns ?? limits.maxTurns);
  let active = team.members.map((name) => participant(name, team.memberMaxTurns ?? limits.maxTurns));
  for (let cycle = 1; ; cycle += 1) {
    active = await memberCycle(run, { cycle, request, lead, names: team.members }, active);
    const judged = await judge(run, { cycle, request, lead, names: team.members }, supervisor, active.length === 0);
    if (judged.spoke === undefined) return await dissolve(run, cycle, active, judged);
  }
}

interface Cycle {
  readonly cycle: number;
  readonly request: UserMessage;
  readonly lead: string;
  readonly names: readonly string[];
}

const participant = (name: string, maxTurns: number): Participant => ({ name, maxTurns, turns: 0, last: undefined });

/** Lets every active member work until it has broadcast. Gives those that are still in the team. */
async function memberCycle(run: AgentRun, at: Cycle, active: readonly Participant[]): Promise<Participant[]> {
  const handles: Handle[] = [];
  for (const member of active) {
    const brief = memberBrief(at.names, at.lead, member.name);
    const input = at.cycle === 1 ? opening(at.request, brief) : userText(nextCycle(at.cycle));
    handles.push(await take(run, at, member, 'member', input));
  }
  const results = await run.steps.settled(handles);
  const remaining: Participant[] = [];
  for (const [index, result] of results.entries()) {
    const member = active[index] as Participant;
    member.turns += result.turns;
    member.last = { run: result.finalRun, agent: result.finalAgent };
    if (await staysIn(run, at.cycle, member, result)) remaining.push(member);
  }
  return remaining;
}

/** A member leaves with its final broadcast, by failing, or because its turns are used up; the last two are announced. */
async function staysIn(run: AgentRun, cycle: number, member: Participant, result: RunResult): Promise<boolean> {
  const left = succeeded(result) && result.spoke === 'final';
  const exhausted = member.turns >= member.maxTurns ? `it has used all its ${member.maxTurns} turns (memberMaxTurns)` : undefined;
  const failure = succeeded(result) ? exhausted : (result.error?.message ?? result.status);
  if (!left && failure === undefined) return true;
  const key = `cycle/${cycle}/member/${member.name}`;
  if (!left) {
    const message = memberFailed(member.name, failure ?? '');
    const payload = { team: run.run, cycle, type: 'failure' as const, memberId: member.name, message, turnCount: member.turns };
    await run.steps.emit(`${key}/failed`, { type: 'team.broadcast', payload });
  }
  await exit(run, key, cycle, member, left ? 'said its last word' : (failure ?? ''));
  return false;
}

async function judge(run: AgentRun, at: Cycle, supervisor: Participant, alone: boolean): Promise<RunResult> {
  const text = alone ? `${nextJudgement(at.cycle)} No member is left: give the final report.` : nextJudgement(at.cycle);
  const input = at.cycle === 1 ? opening(at.request, `${supervisorBrief(at.names)}\n${alone ? text : ''}`) : userText(text);
  const lastTurn = supervisor.maxTurns - supervisor.turns <= 1;
  const handle = await take(run, at, supervisor, 'supervisor', input, alone || lastTurn);
  const [judged] = (await run.steps.settled([handle])) as [RunResult];
  supervisor.turns += judged.turns;
  supervisor.last = { run: judged.finalRun, agent: judged.finalAgent };
  if (succeeded(judged)) return judged;
  const message = `At the supervisor ${supervisor.name} in cycle ${at.cycle}: ${judged.error?.message ?? judged.status}`;
  return { ...judged, error: { code: judged.error?.code ?? 'supervisor_failed', message } };
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
  const seat: Seat = {
    team: run.run,
    member: who.name,
    role,
    cycle: at.cycle,
    turnsBefore: who.turns,
    ...own,
    ...(alone ? { alone } : {}),
  };
  const options: StartOptions = {
    role,
    seat,
    reason: `cycle ${at.cycle} of the team of ${run.agent.name}`,
    maxTurns: Math.max(1, who.maxTurns - who.turns),
    ...(who.last === undefined ? {} : { continues: who.last.run }),
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
  await run.steps.emit(`${key}/exited`, {
    type: 'member.exited',
    payload: { team: run.run, memberId: member.name, cycle, reason },
  });
}

function opening(request: UserMessage, brief: string): UserMessage {
  return { role: 'user', content: [...request.content, { type: 'text', text: `\n\n${brief}` }] };
}
