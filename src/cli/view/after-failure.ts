/** Which command takes a run further that has failed. */
import type { Failure } from '../../events/catalogue.ts';
import { reasonOutside } from '../../events/outside-reason.ts';

/** What a failure says that it would take: an option of `resume` with a number. */
const MORE = / (--(?:max-turns|budget-(?:usd|tokens|calls|wall)) \d[\w.]*\b)/;

/** A run that ended for a reason outside of it goes on, with more where it ran out of something; any other is done again. */
export function afterFailure(id: string, status: string, error: Failure | null): string | undefined {
  if (error === null) return undefined;
  const more = MORE.exec(`${error.message} ${error.fix ?? ''}`)?.[1];
  if (more !== undefined) return `resume ${id} ${more}`;
  switch (reasonOutside({ status, error })) {
    case 'provider':
    case 'key':
    case 'quota':
    case 'setup':
      return `resume ${id}`;
    case undefined:
      return `retry ${id}`;
    default:
      return `show ${id}`;
  }
}
