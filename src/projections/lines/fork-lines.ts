/** What is said of where a session begins, where it goes on, and what somebody asked of it. */
import { counted } from '../../base/wording.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { ForkSource } from '../../events/going-on.ts';
import { readableDuration } from '../readable.ts';

/** Whose session it is, when it came in a bundle. */
export function importedLine({ file, troupe, signedBy, known, sealed }: Payloads['session.imported']): readonly ['info', string] {
  const signed =
    signedBy === undefined ? 'not signed' : `signed with ${signedBy}${known === true ? '' : ', a key nobody vouched for'}`;
  const left = sealed === 0 ? '' : `; ${sealed} of its events came without what is sealed in them`;
  return ['info', `imported from ${file}, made by Troupe ${troupe}, ${signed}: it can be read, and does not go on${left}`];
}

/** Where a session began, and with whose past. */
export function sessionLine({ workspace, forked, imported }: Payloads['session.started']): readonly ['detail' | 'info', string] {
  if (imported !== undefined)
    return ['info', `session made of a transcript of ${imported.program}, ${imported.id}, in ${workspace}`];
  if (forked === undefined) return ['detail', `session started in ${workspace}`];
  return ['info', `session forked from run ${forked.run}, behind ${forked.event}, in ${workspace}`];
}

export const reopenedText = ({ forked, without }: Payloads['run.reopened']): string =>
  `${forked === undefined ? 'goes on' : `forked from run ${forked.run}, behind ${forked.event}: goes on`}${partsText(without)}`;

/** What its models are not shown, by origin. */
const partsText = (without: Payloads['run.reopened']['without'] = []): string =>
  without.length === 0 ? '' : `, without ${[...new Set(without.map(({ origin }) => origin))].join(', ')} in what its models see`;

/** The same as it was asked for. */
export const withoutText = ({ without = [] }: ForkSource): string =>
  without.length === 0 ? '' : `, without ${without.join(', ')}`;

/** Under which terms a run goes on, when they are others than before. */
export function termsText({ budget, model, maxTurns }: Payloads['run.reopened']): string {
  const { usd, tokens, calls, wallMs } = budget ?? {};
  const terms = [
    ...(usd === undefined ? [] : [`at most $${usd}`]),
    ...(tokens === undefined ? [] : [`at most ${counted(tokens, 'token')}`]),
    ...(calls === undefined ? [] : [`at most ${counted(calls, 'model call')}`]),
    ...(wallMs === undefined ? [] : [`at most ${readableDuration(wallMs)} of work`]),
    ...(maxTurns === undefined ? [] : [`at most ${counted(maxTurns, 'turn')}`]),
    ...(model === undefined ? [] : [`with ${model}`]),
  ];
  return terms.length === 0 ? '' : `: ${terms.join(', ')}`;
}

/** That somebody has it go on is no trouble. */
export const signalLine = ({ signal, reason, by }: Payloads['run.signalled']): readonly ['info' | 'warn', string] => [
  signal === 'resume' ? 'info' : 'warn',
  `${by === undefined ? '' : `${by} `}asked to ${signal === 'resume' ? 'go on' : signal}${reason === undefined ? '' : `: ${reason}`}`,
];
