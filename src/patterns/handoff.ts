/**
 * Handoff: when the agent has answered, the next one gets the answer and answers instead. Applied last and never bypassed:
 * also after a router's destination. A stage that failed ends the chain, and the failure names it. The last answer rests on
 * those before it.
 */
import { textOf, type UserMessage, userText } from '../events/messages.ts';
import { reportText } from '../events/report-text.ts';
import { succeeded } from '../events/succeeded.ts';
import { verificationLine } from '../events/verification-text.ts';
import type { AgentRun, Answered } from './agent-run.ts';
import { endedEmpty, ranOut } from './out-of-budget.ts';
import { handedOverRequest } from './prompts.ts';
import type { RunResult, StartOptions } from './steps.ts';
import { resting } from './verification.ts';

export async function handOver(run: AgentRun, answered: Answered): Promise<Answered> {
  const { handoff } = run.agent;
  if (handoff === undefined || !succeeded(answered.result)) return answered;
  const input = await handedOver(run, handoff.include, answered.result);
  await run.steps.emit('handoff/made', { type: 'handoff.made', payload: handoff });
  const result = await delegate(run, 'handoff', handoff.to, input);
  // What was there before the money ran out is not lost with it.
  const out = ranOut(run, [result]);
  const { finalAgent, report } = answered.result;
  if (out !== undefined) return { result: endedEmpty(run, out, [{ who: finalAgent, text: report.body }]) };
  return { result: resting(result, [{ name: finalAgent, result: answered.result }]) };
}

/** A report that goes on alone goes on as it is; what it was found to be worth stands beside it. */
async function handedOver(run: AgentRun, include: 'report' | 'request', result: RunResult): Promise<UserMessage> {
  const { report, verification } = result;
  if (include === 'request')
    return userText(handedOverRequest(textOf(run.input.content), result, await run.steps.nonce('handoff/fence')));
  const said = userText(reportText(report));
  if (verification.state === 'unchecked') return said;
  return { ...said, content: [...said.content, { type: 'text', text: `\n\n${verificationLine(verification)}` }] };
}

/** Lets another agent answer in this one's place. In a team it takes over the seat. */
export async function delegate(
  run: AgentRun,
  stage: 'handoff' | 'router',
  agent: string,
  input: UserMessage,
): Promise<RunResult> {
  const reason = stage === 'handoff' ? `${run.agent.name} handed over` : `${run.agent.name} routed the request here`;
  // A router's choice is followed by the handoff, so only the last stage may take the seat.
  const takesSeat = run.seat !== undefined && (stage === 'handoff' || run.agent.handoff === undefined);
  const { seat, maxTurns } = run;
  const options: StartOptions =
    takesSeat && seat !== undefined
      ? { kind: 'seat', role: stage, reason, seat, maxTurns }
      : { kind: 'pattern', role: stage, reason };
  const [result] = await run.steps.settled([await run.steps.start(stage, agent, input, options)]);
  return namedStage(result as RunResult, stage, agent);
}

function namedStage(result: RunResult, stage: string, agent: string): RunResult {
  if (succeeded(result) || result.error === undefined || result.error.message.startsWith('At ')) return result;
  return { ...result, error: { ...result.error, message: `At ${stage} to ${agent}: ${result.error.message}` } };
}
