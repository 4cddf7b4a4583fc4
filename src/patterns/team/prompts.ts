/** What the participants of a team are told. */
import { succeeded } from '../../events/succeeded.ts';
import { verificationText } from '../../events/verification-text.ts';
import type { NamedResult } from '../verification.ts';

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
