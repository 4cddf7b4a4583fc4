/** Which command takes a run further that has failed. */
import type { Failure } from '../events/catalogue.ts';
import { goesOnAsItIs, reasonOutside } from '../events/outside-reason.ts';

/** What a failure says that it would take: an option of `resume` with a number. */
const MORE = / (--(?:max-turns|budget-(?:usd|tokens|calls|wall)) \d[\w.]*\b)/;

/** A run that ended for a reason outside of it goes on, with more where it ran out of something; any other is done again. */
export function afterFailure(id: string, status: string, error: Failure | null): string | undefined {
  if (error === null) return undefined;
  const more = MORE.exec(`${error.message} ${error.fix ?? ''}`)?.[1];
  if (more !== undefined) return `resume ${id} ${more}`;
  // What ended because of those below it says so itself.
  if (goesOnAsItIs({ status, error }) || error.fix?.endsWith(`troupe resume ${id}`) === true) return `resume ${id}`;
  const reason = reasonOutside({ status, error });
  if (reason === 'model') return withOtherModel(id);
  return reason === undefined ? `retry ${id}` : `show ${id}`;
}

const withOtherModel = (id: string): string => `resume ${id} --model "…"`;

/** Another model may be there where this one, its provider or its account is not. An agent elsewhere has its own. */
export function mayTakeOtherModel(error: Failure | null): boolean {
  return error?.code.startsWith('model_') === true && error.code !== 'model_script_ended';
}

export const onOtherModel = (id: string, error: Failure | null): readonly string[] =>
  mayTakeOtherModel(error) ? [withOtherModel(id)] : [];
