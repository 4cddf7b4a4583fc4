/**
 * Handoff: when the agent has answered, the next one gets the answer and answers instead. Applied last and never bypassed:
 * also after a router's destination. A stage that failed ends the chain, and the failure names it. The last answer rests on
 * those before it.
 */
import { fenced, fenceNote } from '../../base/fence.ts';
import { textOf, type UserMessage, userText } from '../../events/messages.ts';
import { reportText } from '../../events/report-text.ts';
import { succeeded } from '../../events/succeeded.ts';
import { verificationLine } from '../../events/verification-text.ts';
import type { AgentRun, Answered } from '../agent-run.ts';
import { delegate } from '../delegate.ts';
import { endedEmpty, ranOut } from '../out-of-budget.ts';
import type { Pattern } from '../pattern.ts';
import type { RunResult } from '../steps.ts';
import { resting } from '../verification.ts';

const STAGE = 'handoff';

export const handoffPattern = { key: 'handoff', answeredBy: [STAGE], follow: handOver } as const satisfies Pattern;

async function handOver(run: AgentRun, answered: Answered, isLast: boolean): Promise<Answered> {
  const { handoff } = run.agent;
  if (handoff === undefined || !succeeded(answered.result)) return answered;
  const input = await handedOver(run, handoff.include, answered.result);
  await run.steps.emit('handoff/made', { type: 'handoff.made', payload: handoff });
  const reason = `${run.agent.name} handed over`;
  const result = await delegate(run, { stage: STAGE, agent: handoff.to, input, reason, isLast });
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

function handedOverRequest(
  request: string,
  { finalAgent: from, report, verification }: Pick<RunResult, 'finalAgent' | 'report' | 'verification'>,
  nonce: string,
): string {
  return [
    '## ORIGINAL USER REQUEST',
    fenced('request', nonce, request),
    `## RESPONSE FROM AGENT \`${from}\``,
    fenceNote(nonce),
    verificationLine(verification),
    fenced('response', nonce, reportText(report)),
  ].join('\n\n');
}
