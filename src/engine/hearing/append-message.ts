/**
 * What a person says to a run at work: one event in the ledger, on the disk before anybody says "accepted". Who hears it, and
 * when, is in `run/heard-before-turn.ts`; a run that has ended, or in which nobody would hear it, takes none.
 */
import { threadOf } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Ledger, NewEvent, RunRow } from '../../ledger/port.ts';
import { wantedBy } from '../../patterns/agent-run.ts';
import { hearsNothing } from '../../patterns/pattern.ts';
import { registeredPatterns } from '../../patterns/registered.ts';
import type { AgentAccess, LedgerAccess, TimeAndIds } from '../options.ts';
import type { Sender, SendOutcome } from '../port.ts';
import { recordedDefinition } from '../record/agent-setup.ts';
import { readAll } from '../record/read-all.ts';
import { rootOf } from '../record/root-of.ts';

type Tell = (() => Promise<void>) | undefined;
type Recorded = { readonly message: string; readonly tell: Tell } | Exclude<SendOutcome, { readonly kind: 'accepted' }>;

/** What is said, and by whom. */
interface Said extends Sender {
  readonly text: string;
}

export async function appendMessage(
  options: TimeAndIds & Pick<LedgerAccess, 'ledger'> & Pick<AgentAccess, 'patterns'>,
  row: RunRow,
  { text, by, where, message: given }: Said,
  foresee: () => Promise<() => Promise<void>> | undefined,
): Promise<Recorded> {
  const { ledger, clock, ids } = options;
  const { run, session, agent } = row;
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.messageBytes) return { kind: 'too long', bytes };
  const before = given === undefined ? undefined : await saidBefore(ledger, row, given, text);
  if (before !== undefined) return before;
  if (row.endedAt !== null) return { kind: 'ended' };
  const opening = await ledger.read({ session, run, types: ['run.started', 'session.config'], limit: 2 });
  if (nobodyHears(options, opening)) return { kind: 'nobody' };
  if (await isFull(ledger, row)) return { kind: 'full' };
  const message = given ?? ids.nonce();
  const event: NewEvent = {
    ...{ type: 'message.sent', run, actor: 'user', cause: opening[0]?.event_id ?? null, step: `message/${message}` },
    at: clock.now(),
    payload: {
      ...{ message, thread: threadOf(run), from: { assistant: by }, to: { assistant: agent, run } },
      ...{ content: text, fence: ids.nonce(), person: { by, where } },
    },
  };
  const tell = await foresee();
  const counters = [{ name: `message/${message}`, add: 1, max: 1 }];
  const outcome = await ledger.append({ session, fence: null, events: [event], counters, unended: run, sync: 'power' });
  if (outcome.kind === 'appended') return { message, tell };
  // Somebody has said it at the same moment.
  return (outcome.kind === 'over_limit' ? await saidBefore(ledger, row, message, text) : undefined) ?? { kind: 'ended' };
}

/** What became of a message of this id, if there is one already. */
async function saidBefore(
  ledger: Ledger,
  { run, session }: RunRow,
  message: string,
  text: string,
): Promise<Recorded | undefined> {
  if ((await ledger.counter(`message/${message}`)) === 0) return undefined;
  const sent = await readAll(ledger, session, { run, types: ['message.sent'] });
  const same = sent.find((event) => event.event_type === 'message.sent' && event.payload.message === message);
  const isSame = same?.event_type === 'message.sent' && (same.inexact !== undefined || same.payload.content === text);
  return isSame ? { message, tell: undefined } : { kind: 'reused' };
}

/** Of a run that is not set up yet it is not known. */
function nobodyHears({ patterns }: Pick<AgentAccess, 'patterns'>, opening: readonly LedgerEvent[]): boolean {
  const started = opening.find((event) => event.event_type === 'run.started');
  const setup = opening.find((event) => event.event_type === 'session.config');
  if (started?.event_type !== 'run.started' || setup?.event_type !== 'session.config') return false;
  const wanted = { agent: recordedDefinition(setup.payload), ...wantedBy(started.payload) };
  return hearsNothing(patterns ?? registeredPatterns, wanted);
}

const RECEIPTS: readonly EventType[] = ['message.included', 'message.read'];

/**
 * Whether as many wait to be heard as may. They are heard in their order, so it is enough to look at the newest. Of several who
 * write at the same moment each may be the last.
 */
async function isFull(ledger: Ledger, row: RunRow): Promise<boolean> {
  const { run, session } = row;
  const limit = limits.messagesUnheard;
  const sent = await ledger.read({ session, run, types: ['message.sent'], newest: true, limit });
  const toIt = sent.flatMap((event) => (event.event_type === 'message.sent' && event.payload.to.run === run ? [event] : []));
  const oldest = toIt.at(-1);
  if (oldest === undefined || toIt.length < limit) return false;
  const { run: root } = await rootOf(ledger, row);
  const heard = await readAll(ledger, session, { root, types: RECEIPTS, after: oldest.position, exact: false });
  const known = new Set(heard.flatMap(({ payload }) => ('message' in payload ? [payload.message] : [])));
  return toIt.every(({ payload }) => !known.has(payload.message));
}
