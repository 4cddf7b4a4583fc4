/** What the keys do. */
import { type InboxItem, inboxKey } from '../../front/inbox.ts';
import { sayToRun } from '../drive/say-to-run.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import type { KeyPress } from '../terminal/full-screen.ts';
import type { Attachment } from './attachment.ts';
import { afterKey, EMPTY, type TypedDraft, withNewline } from './draft.ts';
import { backMost, helpPages } from './picture.ts';
import { createAsking } from './question.ts';
import { type AttachState, type Mode, markedAt, neighbour } from './state.ts';
import type { TakeUp } from './take-up.ts';

export interface Keys {
  press(key: KeyPress): void;
  /** `q`, or Ctrl-C: leaves, or asks first whether that is meant. */
  wantToLeave(): void;
  /** The questions are others now. */
  waitsChanged(): void;
}

/** How far one page key goes in a question. */
const ROWS_BACK = 5;

export function createKeys(attachment: Attachment, takeUp: TakeUp): Keys {
  let pasting = false;
  const failed = (error: unknown): void => attachment.change({ notice: error instanceof Error ? textOf(error) : String(error) });
  const asking = createAsking(attachment, () => {
    // Whoever stays with the run goes on with it; what was worked on here goes on here.
    if (takeUp.ours) void takeUp.begin().catch(failed);
  });
  const mode = (next: Mode): void => attachment.change({ mode: next });
  const leave = (): void => {
    const code: ExitCode = takeUp.works ? exitCodes.interrupted : exitCodes.completed;
    attachment.leave(code);
  };
  const wantToLeave = (): void => {
    if (!takeUp.works || attachment.state.mode.kind === 'leaving') leave();
    else mode({ kind: 'leaving' });
  };
  const send = (text = ''): void => {
    mode({ kind: 'looking' });
    if (text.trim() !== '') void say(attachment, text).catch(failed);
  };
  const write = (): void => {
    if (attachment.state.driver.by !== 'ended') mode({ kind: 'writing', draft: EMPTY });
  };
  const goTo = (step: 1 | -1): void => {
    attachment.change({ selected: neighbour(attachment.state, step), back: 0, body: [] });
    attachment.reread();
  };
  const does: Readonly<Record<string, (key: KeyPress) => void>> = {
    q: wantToLeave,
    '?': () => mode({ kind: 'help', page: 0 }),
    s: write,
    return: write,
    enter: write,
    i: asking.open,
    o: () => {
      mode({ kind: 'inbox', marked: undefined });
      void attachment.lookInbox();
    },
    r: () => {
      if (attachment.state.driver.by === 'nobody') void takeUp.begin().catch(failed);
    },
    tab: ({ shift }) => goTo(shift ? -1 : 1),
  };
  const looking = (key: KeyPress): void => {
    attachment.change({ notice: undefined });
    if (!scrolled(attachment, key)) does[key.name === '' ? key.text : key.name]?.(key);
  };
  const typing = (
    key: KeyPress,
    draft: TypedDraft,
    change: (draft: TypedDraft) => void,
    done: (typed: string | undefined) => void,
  ): void => {
    const enter = key.name === 'return' || key.name === 'enter';
    if (key.name === 'escape') done(undefined);
    else if (enter && !pasting) done(draft.text);
    else change(enter ? withNewline(draft) : afterKey(draft, key));
  };
  const asked = (key: KeyPress, at: Extract<Mode, { kind: 'asked' }>): void => {
    // Nobody can have read it yet.
    if (at.prompt === undefined) return;
    const step = key.name === 'pageup' ? ROWS_BACK : key.name === 'pagedown' ? -ROWS_BACK : undefined;
    if (step !== undefined) mode({ ...at, back: Math.max(0, at.back + step) });
    else typing(key, at.draft, (draft) => mode({ ...at, draft }), asking.typed);
  };
  const pressed = (key: KeyPress): void => {
    const { mode: at } = attachment.state;
    if (at.kind === 'looking') looking(key);
    else if (at.kind === 'inbox') inInbox(attachment, asking.openItem, key, at.marked);
    else if (at.kind === 'asked') asked(key, at);
    else if (at.kind === 'writing') typing(key, at.draft, (draft) => mode({ kind: 'writing', draft }), send);
    else if (at.kind === 'leaving' && key.name === 'y') leave();
    else if (at.kind === 'help' && hasMoreHelp(attachment, at.page) && !GOES_BACK.includes(key.name))
      mode({ kind: 'help', page: at.page + 1 });
    else mode({ kind: 'looking' });
  };
  return {
    wantToLeave,
    press(key) {
      asking.pressed();
      if (key.name === 'paste-start' || key.name === 'paste-end') pasting = key.name === 'paste-start';
      // What is pasted is text: outside of a line it is no key.
      else if (!pasting || isLine(attachment.state.mode)) pressed(key);
    },
    waitsChanged: asking.waitsChanged,
  };
}

const GOES_BACK: readonly string[] = ['escape', 'q'];

function hasMoreHelp(attachment: Attachment, page: number): boolean {
  const room = attachment.room();
  return page + 1 < helpPages(room.width(), room.height()).length;
}

/** Marks another, opens the marked one, or goes back to the run. */
function inInbox(
  { state: { inbox }, change }: Attachment,
  open: (item: InboxItem) => void,
  { name }: KeyPress,
  marked: string | undefined,
): void {
  const at = markedAt(inbox, marked);
  const step = name === 'up' ? -1 : name === 'down' ? 1 : 0;
  const item = inbox[Math.max(0, Math.min(inbox.length - 1, at + step))];
  if (name === 'escape' || name === 'q' || name === 'o') change({ mode: { kind: 'looking' } });
  else if (item === undefined) return;
  else if (step !== 0) change({ mode: { kind: 'inbox', marked: inboxKey(item) } });
  else if (name === 'return' || name === 'enter') open(item);
}

const isLine = ({ kind }: Mode): boolean => kind === 'writing' || kind === 'asked';

async function say(attachment: Attachment, text: string): Promise<void> {
  const { context, project, state } = attachment;
  const [row] = await project.ledger.runs({ run: state.selected });
  const notice =
    row === undefined ? 'there is no such run any more' : (await sayToRun(context, project, row, text, 'terminal')).told;
  attachment.change({ notice });
}

function textOf(error: Error): string {
  const fix = 'fix' in error && typeof error.fix === 'string' ? `; ${error.fix}` : '';
  return `${error.message}${fix}`;
}

/** Whether the key has moved the words. */
function scrolled(attachment: Attachment, { name }: KeyPress): boolean {
  const height = attachment.page();
  const { body, back }: AttachState = attachment.state;
  const most = backMost(body.length, height);
  const steps: Readonly<Record<string, number>> = { up: 1, down: -1, pageup: height, pagedown: -height, home: most, end: -most };
  const step = steps[name];
  if (step === undefined) return false;
  attachment.change({ back: Math.max(0, Math.min(most, back + step)) });
  return true;
}
