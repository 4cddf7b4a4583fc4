/**
 * One screen on one run: follows it in the ledger, whoever works on it, and draws what there is. What keys do is in `keys.ts`, a
 * question in `question.ts`, working on the run here in `take-up.ts`.
 */
import { stripVTControlCharacters } from 'node:util';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { readInbox } from '../../front/inbox.ts';
import { belongsTo } from '../../front/standing.ts';
import type { RunRow } from '../../ledger/port.ts';
import { createFollower } from '../../library/follow.ts';
import type { Project } from '../../project/project.ts';
import { subtree } from '../../projections/run-tree.ts';
import { type CommandContext, callOf } from '../terminal/command.ts';
import type { ExitCode } from '../terminal/exit-codes.ts';
import type { Screen } from '../terminal/terminal.ts';
import { hardWrap, textWidth } from '../terminal/text-width.ts';
import { createDrawing } from './painter.ts';
import { backMost, layoutOf, OTHER_ROWS, picture, type WindowLook } from './picture.ts';
import { type AttachState, runsOf, type WorkedOnBy } from './state.ts';
import { createWords, type Words } from './words.ts';

export interface Attachment {
  readonly context: CommandContext;
  readonly project: Project;
  readonly root: RunRow;
  readonly words: Words;
  readonly state: AttachState;
  change(next: Partial<AttachState>): void;
  /** The window as large as it is, less what stands around the words. */
  room(): Screen;
  /** How many rows of words are seen at a time. */
  page(): number;
  /** The words that are shown may have changed. */
  reread(): void;
  /** Calls back when other questions are open than before. */
  onWaits(callback: () => void): void;
  /** Whether this process works on the run. */
  worksHere(works: boolean): void;
  /** Who works on the run may have changed. */
  lookAround(): Promise<void>;
  /** Something else may wait in the project. */
  lookInbox(): Promise<void>;
  /** Draws everything anew: the screen was somebody else's. */
  redraw(): void;
  leave(code: ExitCode): void;
  readonly left: Promise<ExitCode>;
}

export function createAttachment(
  context: CommandContext,
  project: Project,
  root: RunRow,
  selected: RunId,
): Attachment & { stop(): void } {
  const { terminal, clock } = context;
  const { out } = terminal;
  const follower = createFollower(project.ledger, root.session);
  const left = Promise.withResolvers<ExitCode>();
  const words = createWords();
  const cluster = project.config.cluster !== undefined;
  let state: AttachState = {
    ...{ tree: follower.tree, root: root.run, selected, body: [], back: 0, waits: [], inbox: [], notice: undefined },
    call: callOf(context),
    driver: driverOf(root, false, cluster),
    mode: { kind: 'looking' },
  };
  let here = false;
  let waitsChanged = (): void => undefined;

  const look = (): WindowLook => ({ width: out.width(), height: out.height(), now: clock.now(), paint: out.paint });
  const drawing = createDrawing(out, clock, () => picture(state, look()));
  const layout = () => layoutOf(look(), runsOf(state).length);
  const change = (next: Partial<AttachState>): void => {
    state = { ...state, ...next };
    drawing.soon();
  };
  const room = (): Screen => {
    const { width, height } = look();
    return { ...out, width: () => width, height: () => Math.max(4, height - OTHER_ROWS) };
  };
  const rereadNow = coalesced(async () => {
    const { width } = layout().body;
    const of = state.selected;
    const rows = await words.rows(of, { ...out, width: () => width });
    const body = rows.flatMap((row) => (widthOf(row) <= width ? [row] : hardWrap(stripVTControlCharacters(row), width)));
    if (of !== state.selected) return;
    const more = state.back === 0 ? 0 : body.length - state.body.length;
    change({ body, back: Math.max(0, Math.min(backMost(body.length, layout().body.height), state.back + more)) });
  });
  const reread = (): void => void rereadNow();
  const lookAround = coalesced(async () => {
    const [row = root] = await project.ledger.runs({ run: root.run });
    const open = row.endedAt === null ? await project.engine.waits(root.run) : [];
    const own = new Set(subtree(state.tree, root.run).map(({ run }) => run));
    change({ driver: driverOf(row, here, cluster), waits: open.filter(({ run }) => own.has(run)) });
    waitsChanged();
  });
  const lookInbox = coalesced(async () => {
    change({ inbox: await readInbox(project, clock.now()) });
    waitsChanged();
  });

  const belongs = belongsTo(root.run);
  const show = (event: LedgerEvent): void => {
    if (!belongs(event)) return;
    words.apply(event);
    if (LOOK_AT.has(event.event_type)) void lookAround();
    if (event.run_id === state.selected) reread();
    drawing.soon();
  };
  const following = follower.beginAt(root.run).then(() => follower.follow(left.promise, show));
  following.catch((error: unknown) => left.reject(error));
  const stopLooking = repeatedly(clock, () => void Promise.all([lookAround(), lookInbox()]));
  const stopResizing = out.onResize(() => {
    reread();
    drawing.anew();
  });
  return {
    ...{ context, project, root, words, change, room, lookAround, lookInbox, reread },
    get state() {
      return state;
    },
    worksHere(works) {
      here = works;
      if (works) change({ driver: { by: 'here' }, notice: undefined });
    },
    onWaits(callback) {
      waitsChanged = callback;
    },
    page: () => layout().body.height,
    redraw: drawing.anew,
    leave: left.resolve,
    left: left.promise,
    stop() {
      stopLooking();
      stopResizing();
      drawing.stop();
    },
  };
}

const widthOf = (row: string): number => textWidth(stripVTControlCharacters(row));

/** What may change who works on the run, or what it asks. */
const LOOK_AT: ReadonlySet<string> = new Set([
  ...[
    'approval.asked',
    'task.clarify',
    'approval.answered',
    'run.started',
    'run.resumed',
    'run.paused',
    'run.parked',
    'run.ended',
  ],
]);

function driverOf({ endedAt, owner, state }: RunRow, here: boolean, cluster: boolean): WorkedOnBy {
  if (endedAt !== null) return { by: 'ended' };
  if (here) return { by: 'here' };
  // There a run is left and taken up again all the time.
  if (cluster && state === 'running') return { by: 'elsewhere', who: 'the cluster' };
  return owner === null ? { by: 'nobody' } : { by: 'elsewhere', who: `process ${owner.pid} on ${owner.host}` };
}

/** One at a time; whoever asks meanwhile gets the one after it. */
function coalesced(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    running = work()
      .catch(() => undefined)
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  return () => {
    if (running === undefined) return begin();
    next ??= running.then(() => {
      next = undefined;
      return begin();
    });
    return next;
  };
}

/** That whoever worked on a run has died leaves no event: it is looked at now and then. */
function repeatedly(clock: CommandContext['clock'], look: () => void): () => void {
  let cancel = (): void => undefined;
  const again = (): void => {
    look();
    cancel = clock.after(limits.attachLookMs, again);
  };
  again();
  return () => cancel();
}
