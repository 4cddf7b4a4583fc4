/** The texts that patterns put together. Headings are those of the patterns' contract; what others wrote is fenced. */
import { fenced, fenceNote } from '../base/fence.ts';
import type { Verification } from '../events/catalogue.ts';
import { reportText } from '../events/report-text.ts';
import { succeeded } from '../events/succeeded.ts';
import { verificationLine, verificationText } from '../events/verification-text.ts';
import type { RunResult } from './steps.ts';
import type { NamedResult } from './verification.ts';

export interface Advice {
  /** The agent whose words these are, after its own handoffs. */
  readonly label: string;
  readonly text: string;
  /** Absent when it failed: then there is nothing to build on. */
  readonly verification?: Verification | undefined;
}

export function enrichedRequest(request: string, advice: readonly Advice[], nonce: string): string {
  return [
    '## ORIGINAL USER REQUEST',
    fenced('request', nonce, request),
    '## ANALYSIS GATHERED',
    fenceNote(nonce),
    ...advice.flatMap(({ label, text, verification }) => [
      `### From ${label}`,
      ...(verification === undefined ? [] : [verificationLine(verification)]),
      fenced('analysis', nonce, text),
    ]),
  ].join('\n\n');
}

export const failedAdvice = (advisor: string, why: string): string => `Advisor consultation failed for ${advisor}: ${why}`;

export function routedRequest(request: string, router: string, message: string | undefined, nonce: string): string {
  const original = ['## ORIGINAL USER REQUEST', fenced('request', nonce, request)];
  if (message === undefined) return original.join('\n\n');
  const heading = `## MESSAGE FROM AGENT \`${router}\` WHO ROUTED THIS REQUEST TO YOU`;
  return [...original, heading, fenced('message', nonce, message)].join('\n\n');
}

export function handedOverRequest(
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

export const memberBrief = (members: readonly string[], supervisor: string, self: string): string =>
  [
    `You are ${self}, a member of a team with ${members.filter((name) => name !== self).join(', ') || 'nobody else'}, led by ${supervisor}.`,
    'You speak to the team only with team_broadcast: say what you found, what you need and what you propose, in full, because ' +
      'nobody sees anything else of your work. Set final to true when you have nothing more to add; you then leave the team.',
    'What the others broadcast reaches you before your next turn.',
  ].join('\n');

export const supervisorBrief = (members: readonly string[]): string =>
  `You lead a team: ${members.join(', ')}. They work in parallel.`;

export const nextCycle = (cycle: number): string =>
  `Cycle ${cycle} of the team's work begins. Read the broadcasts that are new to you, go on with your part, and broadcast what you have.`;

/** What the broadcasts of a cycle are worth, by name. Broadcasts claim nothing, so mostly there is nothing to tell apart. */
export function broadcastsChecked(said: readonly NamedResult[]): string {
  const told = said.filter(({ result }) => succeeded(result));
  if (told.every(({ result }) => result.verification.state === 'unchecked'))
    return 'None of the broadcasts was checked by the runtime.';
  const lines = told.map(({ name, result }) => `- ${name}: ${verificationText(result.verification)}`);
  return ['Verification of the broadcasts by the runtime:', ...lines].join('\n');
}

export const nextJudgement = (cycle: number): string =>
  `The members have finished cycle ${cycle}. Their broadcasts follow. ` +
  'Call team_broadcast to answer them and start another cycle, or final_report to give the answer and end the work.';

/** There will be no other cycle: nothing is said of a way to begin one. */
export const lastJudgement = (cycle: number, alone: boolean): string =>
  `The members have finished cycle ${cycle}. Their broadcasts follow. ` +
  `${alone ? 'No member is left' : 'This is your last turn'}: call final_report to give the answer and end the work.`;

export const memberFailed = (member: string, reason: string): string =>
  `member ${member} failed and is no longer in the team. Reason: ${reason}`;
