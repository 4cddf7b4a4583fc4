/** The texts that patterns put together. Headings are those of the patterns' contract; what others wrote is fenced. */
import { fenced, fenceNote } from '../base/fence.ts';

export interface Advice {
  /** The agent whose words these are, after its own handoffs. */
  readonly label: string;
  readonly text: string;
}

export function enrichedRequest(request: string, advice: readonly Advice[], nonce: string): string {
  return [
    '## ORIGINAL USER REQUEST',
    fenced('request', nonce, request),
    '## ANALYSIS GATHERED',
    fenceNote(nonce),
    ...advice.flatMap(({ label, text }) => [`### From ${label}`, fenced('analysis', nonce, text)]),
  ].join('\n\n');
}

export const failedAdvice = (advisor: string, why: string): string => `Advisor consultation failed for ${advisor}: ${why}`;

export function routedRequest(request: string, router: string, message: string | undefined, nonce: string): string {
  const original = ['## ORIGINAL USER REQUEST', fenced('request', nonce, request)];
  if (message === undefined) return original.join('\n\n');
  const heading = `## MESSAGE FROM AGENT \`${router}\` WHO ROUTED THIS REQUEST TO YOU`;
  return [...original, heading, fenced('message', nonce, message)].join('\n\n');
}

export function handedOverRequest(request: string, from: string, report: string, nonce: string): string {
  return [
    '## ORIGINAL USER REQUEST',
    fenced('request', nonce, request),
    `## RESPONSE FROM AGENT \`${from}\``,
    fenceNote(nonce),
    fenced('response', nonce, report),
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

export const nextJudgement = (cycle: number): string =>
  `The members have finished cycle ${cycle}. Their broadcasts follow. ` +
  'Call team_broadcast to answer them and start another cycle, or final_report to give the answer and end the work.';

/** There will be no other cycle: nothing is said of a way to begin one. */
export const lastJudgement = (cycle: number, alone: boolean): string =>
  `The members have finished cycle ${cycle}. Their broadcasts follow. ` +
  `${alone ? 'No member is left' : 'This is your last turn'}: call final_report to give the answer and end the work.`;

export const memberFailed = (member: string, reason: string): string =>
  `member ${member} failed and is no longer in the team. Reason: ${reason}`;
