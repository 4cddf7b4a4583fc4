/**
 * Takes back what somebody said "always" to for a session: one event, in the run that the session began with, whoever works on
 * which of its runs. So it is found again without a look through the session, and no run that ends or begins meanwhile misses
 * it.
 */
import type { SessionId } from '../base/ids.ts';
import { present } from '../base/present.ts';
import type { Ledger, NewEvent } from '../ledger/port.ts';
import { type RememberedRule, writtenRule } from '../permissions/remembered-rule.ts';
import { createRememberedRules } from './hearing/remembered-rules.ts';
import type { LedgerAccess, TimeAndIds } from './options.ts';
import type { ForgetOutcome, Sender } from './port.ts';
import { saidOfRules } from './record/past.ts';

/** What is remembered for a session just now. `exact`: for what runs, never for what is shown. */
export async function rememberedIn(ledger: Ledger, session: SessionId, exact = false): Promise<readonly RememberedRule[]> {
  const { written, events } = await saidOfRules(ledger, session, exact);
  const rules = createRememberedRules();
  for (const { facts, factsAt } of written) rules.restore({ approved: facts.approved, at: factsAt });
  events.forEach(rules.apply);
  return rules.all();
}

export async function forget(
  { ledger, clock, redact }: LedgerAccess & TimeAndIds,
  session: SessionId,
  rule: string | undefined,
  { by, where }: Sender,
): Promise<ForgetOutcome> {
  const [first] = await ledger.read({ session, limit: 1 });
  if (first === undefined) return { kind: 'unknown' };
  // Who names a rule has seen it without its secrets.
  const known = (await rememberedIn(ledger, session, true)).map(writtenRule);
  const meant = rule === undefined ? known : known.filter((written) => written === rule || redact(written) === rule);
  if (meant.length === 0) return { kind: 'forgotten', rules: [] };
  const base = { type: 'approval.withdrawn', run: first.run_id, actor: 'user', cause: first.event_id, at: clock.now() } as const;
  const named: readonly (string | undefined)[] = rule === undefined ? [undefined] : meant;
  const events = named.map((one): NewEvent => ({ ...base, payload: { ...present({ rule: one }), by, where } }));
  await ledger.append({ session, fence: null, events, sync: 'power' });
  return { kind: 'forgotten', rules: meant.map(redact) };
}
