/** Who asks, as the system that they are logged in to calls them. */
import { PERSON } from '../../base/person.ts';
import type { Signed } from '../../ledger/forgetting/port.ts';
import type { CommandContext } from '../terminal/command.ts';

export function signedBy({ terminal: { env }, clock }: Pick<CommandContext, 'terminal' | 'clock'>): Signed {
  return { by: env['USER'] || env['LOGNAME'] || PERSON, at: clock.now() };
}
