/**
 * What every engine does alike: starting, resuming, signalling and answering runs, all of it events in the ledger. Who works on
 * a run is the driver's matter.
 */
import type { RunId } from '../base/ids.ts';
import { PERSON } from '../base/person.ts';
import { present } from '../base/present.ts';
import type { Failure, Payloads } from '../events/catalogue.ts';
import type { EventOf } from '../events/envelope.ts';
import type { Ledger, NewEvent, RunRow } from '../ledger/port.ts';
import type { Driver } from './driver.ts';
import { failureOf } from './failure-of.ts';
import { forget } from './forget.ts';
import { fork } from './fork/fork.ts';
import { appendAnswer } from './hearing/append-answer.ts';
import { appendMessage } from './hearing/append-message.ts';
import { refusedChange } from './hearing/fits-tool.ts';
import { openWaits } from './hearing/waits.ts';
import { ownSessionsOnly } from './imported-sessions.ts';
import type { EngineOptions } from './options.ts';
import type {
  Engine,
  ForkOutcome,
  ForkRequest,
  LivePiece,
  OpenWait,
  ResumeOutcome,
  ResumeTerms,
  RunEnd,
  Sender,
  SignalOutcome,
  StartOutcome,
  WithdrawOutcome,
} from './port.ts';
import { rootOf } from './record/root-of.ts';
import { nobodyAnswered, reopen } from './reopen.ts';
import { startNew } from './start.ts';
import { closedSince, takeUp } from './take-up.ts';
import { withdraw } from './withdraw.ts';

type Signal = Payloads['run.signalled']['signal'];

export type MakeDriver = (options: EngineOptions, watchers: ReadonlySet<(piece: LivePiece) => void>) => Driver;

interface Resuming {
  readonly purpose: 'go on' | 'end';
  readonly terms?: ResumeTerms;
  readonly sender?: Sender;
}

const GO_ON: Resuming = { purpose: 'go on' };

export function createEngine(options: EngineOptions, makeDriver: MakeDriver): Engine {
  const watchers = new Set<(piece: LivePiece) => void>();
  const driver = makeDriver(options, watchers);

  const rowOf = async (run: RunId): Promise<RunRow | undefined> => (await options.ledger.runs({ run }))[0];
  const accepted = async (run: RunId, tell: (() => Promise<void>) | undefined): Promise<Accepted> => {
    await tell?.();
    if (tell !== undefined) return { kind: 'accepted', live: true };
    // Asked after the append: who drives the run now still looks before it leaves it, who had left it before does not.
    return { kind: 'accepted', live: (await rowOf(run))?.owner != null };
  };
  const signal = async (run: RunId, kind: Signal, reason: string, sender?: Sender): Promise<SignalOutcome> => {
    const row = await rowOf(run);
    if (row === undefined) return { kind: 'unknown' };
    if (row.endedAt !== null) return { kind: 'ended' };
    const cause = (await startedEvent(options.ledger, row))?.event_id ?? null;
    const payload = { signal: kind, reason, ...present({ by: sender?.by, where: sender?.where }) };
    const event: NewEvent = { type: 'run.signalled', run, actor: 'user', cause, payload, at: options.clock.now() };
    const tell = await driver.foresee?.(row);
    const { session } = row;
    const { kind: outcome } = await options.ledger.append({ session, fence: null, events: [event], unended: run, sync: 'power' });
    return outcome === 'ended' ? { kind: 'ended' } : await accepted(run, tell);
  };

  const resume = async (run: RunId, { purpose, terms, sender }: Resuming = GO_ON): Promise<ResumeOutcome> => {
    const asked = await rowOf(run);
    if (asked === undefined) return { kind: 'unknown' };
    let root = await rootOf(options.ledger, asked);
    const here = await driver.driving(root.run);
    if (here !== undefined) return hasTerms(terms) ? beingDriven : { kind: 'resumed', handle: here, takenOver: false };
    if (sender !== undefined && (root.endedAt === null || needsReopening(root, terms))) await recordResume(options, root, sender);
    if (purpose === 'go on' && (needsReopening(root, terms) || (await wasCutOff(options.ledger, root, driver)))) {
      const outcome = await reopened(options, root, terms ?? {}, driver);
      if (outcome !== undefined) return outcome;
      root = (await rowOf(root.run)) ?? root;
    }
    const outcome = (await driver.takeUp?.(root)) ?? (await takeUp(options, root, driver, purpose));
    return outcome.kind === 'stood still' ? await resume(run, { purpose, ...present({ terms }) }) : outcome;
  };

  /** Nobody drives it: it is taken up just to end it properly, with everything below it. What is above stays as it is. */
  const endNow = async (run: RunId): Promise<Failure | undefined> => {
    const row = await rowOf(run);
    const root = row === undefined ? undefined : await rootOf(options.ledger, row);
    if (root !== undefined && root.run !== run && (await driver.endBelow?.(root)) === 'done') return undefined;
    const taken = await resume(run, { purpose: 'end' });
    if (taken.kind === 'refused') return taken.error;
    const end = taken.kind === 'resumed' ? await taken.handle.done : undefined;
    return end?.kind === 'interrupted' ? end.error : undefined;
  };

  return ownSessionsOnly(options, {
    async start(request) {
      const here = request.run === undefined || request.isNew === true ? undefined : await rowOf(request.run);
      if (here !== undefined) return startedBefore(here, await resume(here.run));
      const outcome = await startNew(options, request, driver);
      if (outcome.kind !== 'there already') return outcome;
      return startedBefore(outcome.row, await resume(outcome.row.run));
    },
    resume: (run, terms, sender) => resume(run, { purpose: 'go on', ...present({ terms, sender }) }),
    async cancel(run, reason, sender) {
      const outcome = await signal(run, 'cancel', reason, sender);
      if (outcome.kind !== 'accepted' || outcome.live) return outcome;
      const unended = await endNow(run).catch(failureOf);
      return unended === undefined ? outcome : { ...outcome, unended };
    },
    pause: (run, reason, sender) => signal(run, 'pause', reason, sender),
    async answer(run, wait, answer, answering = {}) {
      const row = await rowOf(run);
      if (row === undefined) return { kind: 'unknown' };
      const outcome = await appendAnswer(options, row, { ...answering, wait, answer }, () => driver.foresee?.(row));
      return 'tell' in outcome ? await accepted(run, outcome.tell) : outcome;
    },
    refusedChange: (wait, input) => refusedChange(options, wait, input),
    async send(run, text, person = UNNAMED) {
      const row = await rowOf(run);
      if (row === undefined) return { kind: 'unknown' };
      const outcome = await appendMessage(options, row, { text, ...person }, () => driver.foresee?.(row));
      return 'tell' in outcome ? { ...(await accepted(run, outcome.tell)), message: outcome.message } : outcome;
    },
    withdraw: async (run) => await withdrawn(options, run, await rowOf(run)),
    fork: async (request) => await forked(options, request, await rowOf(request.run)),
    forget: (session, rule, sender = UNNAMED) => forget(options, session, rule, sender),
    waits: async (run) => await waitsOf(options.ledger, await rowOf(run)),
    watch: (watcher) => watchedBy(watchers, watcher),
    close: () => driver.stop('Troupe was stopped.'),
  });
}

/** Whoever starts a run that there is gets that one. */
function startedBefore({ run, session }: RunRow, outcome: ResumeOutcome): StartOutcome {
  if (outcome.kind === 'resumed') return { kind: 'started', handle: outcome.handle, before: true };
  if (outcome.kind !== 'ended') return { kind: 'refused', error: { code: 'exists', message: `Run ${run} exists already.` } };
  const done = Promise.resolve<RunEnd>({ kind: 'ended', result: outcome.result });
  return { kind: 'started', handle: { session, run, done }, before: true };
}

function watchedBy<Watcher>(watchers: Set<Watcher>, watcher: Watcher): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

const withdrawn = async (options: EngineOptions, run: RunId, row: RunRow | undefined): Promise<WithdrawOutcome> =>
  row === undefined ? { kind: 'refused', error: unknownRun(run) } : await withdraw(options, row);

const forked = async (options: EngineOptions, request: ForkRequest, row: RunRow | undefined): Promise<ForkOutcome> =>
  row === undefined ? { kind: 'refused', error: unknownRun(request.run) } : await fork(options, request, row);

const unknownRun = (run: RunId): Failure => ({ code: 'unknown_run', message: `There is no run ${run}.` });

const waitsOf = async (ledger: Ledger, row: RunRow | undefined): Promise<readonly OpenWait[]> =>
  row === undefined ? [] : await openWaits(ledger, row.session);

interface Accepted {
  readonly kind: 'accepted';
  readonly live: boolean;
}

/** Whoever uses Troupe, when nothing else is said. */
const UNNAMED: Sender = { by: PERSON, where: 'library' };

/** A run that stands still for something outside goes on whoever asks; one that has ended only for who says so. */
const needsReopening = ({ state, endedAt }: RunRow, terms: ResumeTerms | undefined): boolean =>
  state === 'parked' || (terms !== undefined && (endedAt !== null || hasTerms(terms)));

/** Just before it would have stood still. Where others work on runs, whoever works on this one has it stand still yet. */
const wasCutOff = async (ledger: Ledger, root: RunRow, driver: Driver): Promise<boolean> =>
  driver.takeUp === undefined && root.endedAt === null && (await nobodyAnswered(ledger, root)) !== undefined;

/** What there is to say instead of going on; `undefined` when it can be taken up, or told again. */
async function reopened(
  options: EngineOptions,
  root: RunRow,
  terms: ResumeTerms,
  driver: Driver,
): Promise<ResumeOutcome | undefined> {
  // Asked only of one that would go on: what has ended for good is told again in every shell, also without a key.
  const closed = async () => (driver.takeUp === undefined ? await closedSince(options, root, terms.model) : undefined);
  const outcome = await reopen(options, root, terms, closed);
  if (outcome.kind === 'goes on') return undefined;
  if (outcome.kind !== 'stays') return outcome;
  return hasTerms(terms) ? { kind: 'refused', error: outcome.why } : undefined;
}

const hasTerms = (terms: ResumeTerms | undefined): boolean => Object.keys(present(terms ?? {})).length > 0;

const beingDriven: ResumeOutcome = {
  kind: 'refused',
  error: { code: 'held', message: 'The run is being worked on, so its terms cannot be changed.', fix: 'Pause it first.' },
};

async function startedEvent(ledger: Ledger, row: RunRow): Promise<EventOf<'run.started'> | undefined> {
  const [event] = await ledger.read({ session: row.session, run: row.run, types: ['run.started'], limit: 1 });
  return event?.event_type === 'run.started' ? event : undefined;
}

/** That somebody had it go on, and who. It takes back no pause: whoever takes up the run does that. */
async function recordResume({ ledger, clock }: EngineOptions, { session, run }: RunRow, { by, where }: Sender): Promise<void> {
  const [started] = await ledger.read({ session, run, types: ['run.started'], limit: 1 });
  if (started === undefined) return;
  const payload = { signal: 'resume', by, where } as const;
  const event: NewEvent = { type: 'run.signalled', run, actor: 'user', cause: started.event_id, payload, at: clock.now() };
  await ledger.append({ session, fence: null, events: [event], sync: 'power' });
}
