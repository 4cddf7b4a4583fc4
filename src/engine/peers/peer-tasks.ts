/** Where the tasks of a run stand that an agent elsewhere works on: a fold of what was recorded, in this life and before. */
import { present } from '../../base/present.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { AnsweredQuestion, PeerTask, SentBefore } from '../../peers/port.ts';

/** What became of the message of a turn. */
export type SentStanding =
  | { readonly kind: 'unsent' }
  /** It went out, and nobody knows whether it was taken. */
  | ({ readonly kind: 'doubt' } & SentBefore)
  | ({ readonly kind: 'task' } & PeerTask);

interface WaitingPeerTask {
  readonly task: string;
  readonly needs: 'input' | 'auth';
  readonly confirms?: readonly string[] | undefined;
}

export interface PeerTasks {
  of(step: string): SentStanding;
  /** How often its message was sent. */
  times(step: string): number;
  /** How often its task was cancelled from here: what is asked again after that is another message. */
  ended(step: string): number;
  /** The conversation, in the peer's word for it once it has one. */
  context(): string | undefined;
  /** The task that has asked and waits for an answer. */
  waiting(): WaitingPeerTask | undefined;
  /** The task that asked was ended from here: what is said now begins another, which knows nothing of it. */
  isAnew(): boolean;
  /** What it asked last, which whatever is sent now answers. */
  answered(): AnsweredQuestion | undefined;
  /** What is under way there, or may be. */
  open(): (Exclude<SentStanding, { readonly kind: 'unsent' }> & { readonly step: string }) | undefined;
  /** Where that is. */
  openAt(): string | undefined;
  sent(step: string, sent: Payloads['peer.sent']): void;
  unsent(step: string): void;
  named(step: string, task: PeerTask): void;
  stood(step: string, state: Payloads['peer.state']): void;
  /** Unless the peer says that it is over it may be at work, and is gone on with if anybody does. */
  cancelled(step: string, how: Payloads['peer.cancelled']): void;
  /** It was told to end and had not ended then: what has ended since has ended for us. */
  isTold(task: string): boolean;
  /** Something that was begun there may still be at work, and nobody here waits for it. */
  isLeft(): boolean;
}

const WAITING = { 'input-required': 'input', 'auth-required': 'auth' } as const;

/** `own`: the word that we have for a conversation that nobody has had before. */
export function createPeerTasks(past: readonly LedgerEvent[], own: string): PeerTasks {
  const steps = new Map<string, SentStanding>();
  const times = new Map<string, number>();
  const ended = new Map<string, number>();
  let latest: string | undefined;
  let context: string | undefined;
  let address: string | undefined;
  let state: Payloads['peer.state'] | undefined;
  let isOver = false;
  let isAnew = false;
  const told = new Set<string>();

  const of = (step: string): SentStanding => steps.get(step) ?? { kind: 'unsent' };
  const tasks: PeerTasks = {
    of,
    times: (step) => times.get(step) ?? 0,
    ended: (step) => ended.get(step) ?? 0,
    context: () => context,
    waiting() {
      if (state?.task === undefined || isOver) return undefined;
      if (state.state !== 'input-required' && state.state !== 'auth-required') return undefined;
      return { task: state.task, needs: WAITING[state.state], ...present({ confirms: state.confirms }) };
    },
    isAnew: () => isAnew,
    answered() {
      if (state?.task === undefined || !(state.state in WAITING)) return undefined;
      return { task: state.task, mark: state.asked };
    },
    open() {
      if (latest === undefined || isOver) return undefined;
      const standing = of(latest);
      if (standing.kind !== 'unsent') return { ...standing, step: latest };
      const waiting = tasks.waiting();
      return waiting === undefined || context === undefined
        ? undefined
        : { kind: 'task', task: waiting.task, context, step: latest };
    },
    openAt: () => (tasks.open() === undefined ? undefined : address),
    sent(step, sent) {
      const first = sent.context === own && [...times.keys()].every((one) => one === step);
      times.set(step, (times.get(step) ?? 0) + 1);
      context = sent.context;
      address = sent.address;
      steps.set(step, { kind: 'doubt', message: sent.message, context: sent.context, task: sent.task, first });
      latest = step;
      isOver = false;
    },
    unsent: (step) => void steps.set(step, { kind: 'unsent' }),
    named(step, task) {
      steps.set(step, { kind: 'task', ...task });
      context = task.context;
    },
    stood(step, stood) {
      state = stood;
      context = stood.context;
      // Nothing is under way: it has ended, or waits for us.
      steps.set(step, { kind: 'unsent' });
      latest = step;
      isOver = !(stood.state in WAITING);
      isAnew = false;
    },
    isLeft: () => tasks.open() !== undefined,
    isTold: (task) => told.has(task),
    cancelled(step, how) {
      if (!isConfirmed(how)) return void told.add(how.task);
      isOver = true;
      isAnew ||= state !== undefined && state.state in WAITING;
      state = undefined;
      steps.set(step, { kind: 'unsent' });
      ended.set(step, (ended.get(step) ?? 0) + 1);
    },
  };
  for (const event of past) apply(tasks, event);
  return tasks;
}

/** Whoever only says that it was told may be at work as before. */
const isConfirmed = ({ reached, state = 'canceled' }: Pick<Payloads['peer.cancelled'], 'reached' | 'state'>): boolean =>
  reached && state !== 'working' && !(state in WAITING);

function apply(tasks: PeerTasks, event: LedgerEvent): void {
  const step = event.step ?? '';
  if (event.event_type === 'peer.sent') tasks.sent(step, event.payload);
  else if (event.event_type === 'peer.unsent') tasks.unsent(step);
  else if (event.event_type === 'peer.task') tasks.named(step, event.payload);
  else if (event.event_type === 'peer.state') tasks.stood(step, event.payload);
  else if (event.event_type === 'peer.cancelled') tasks.cancelled(step, event.payload);
}
