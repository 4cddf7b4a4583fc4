/** Whether what a person makes of a call fits the tool, as the run knows it: what does not would only fail later. */
import type { Json } from '../../base/json.ts';
import { isJsonObject } from '../../base/json.ts';
import type { Ledger } from '../../ledger/port.ts';
import { checkInput } from '../../tools/input.ts';
import type { PermissionWait } from '../port.ts';

/** What does not fit, in words; `undefined` when all does, or when nobody here knows the tool. */
export async function whyUnfit(
  ledger: Pick<Ledger, 'read' | 'runs'>,
  { run, tool }: Pick<PermissionWait, 'run' | 'tool'>,
  input: Json,
): Promise<string | undefined> {
  const [row] = await ledger.runs({ run });
  if (row === undefined) return undefined;
  const [setup] = await ledger.read({ session: row.session, run, types: ['session.config'], newest: true, limit: 1 });
  const known = setup?.event_type === 'session.config' ? setup.payload.tools.find(({ name }) => name === tool) : undefined;
  if (known === undefined || !isJsonObject(known.inputSchema)) return undefined;
  const checked = checkInput(known.inputSchema, input);
  return checked.ok ? undefined : checked.error;
}
