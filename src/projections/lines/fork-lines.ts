/** What is said of a session that was forked, where it begins and where it goes on. */
import type { Payloads } from '../../events/catalogue.ts';

/** Where a session began, and with whose past. */
export function sessionLine({ workspace, forked }: Payloads['session.started']): readonly ['detail' | 'info', string] {
  if (forked === undefined) return ['detail', `session started in ${workspace}`];
  return ['info', `session forked from run ${forked.run}, behind ${forked.event}, in ${workspace}`];
}

export const reopenedText = ({ forked }: Payloads['run.reopened']): string =>
  forked === undefined ? 'goes on' : `forked from run ${forked.run}, behind ${forked.event}: goes on`;
