/** The line at the bottom where a message is typed: keys, what was said before, and what Tab finds. */
import type { Clock } from '../../base/clock.ts';
import type { KeyByKey } from '../terminal/key-by-key.ts';
import type { Screen } from '../terminal/terminal.ts';
import { watchSize } from '../terminal/window-size.ts';
import { type ChatDraft, draftReplaced, editedDraft, emptyDraft, isEmptyDraft, type Recalled, typedInto } from './draft.ts';
import { createDrawnLine } from './drawn-line.ts';
import type { Key, KeyName } from './keys.ts';
import { movedByRow } from './layout.ts';
import type { Heard, Typing } from './typing.ts';

/** What may stand in the place of the word before the cursor. */
export interface Completion {
  /** The cell at which the word begins. */
  readonly from: number;
  readonly text: string;
  /** What else could be meant, when it is not clear yet. */
  readonly choices: readonly string[];
}

export interface EditorParts {
  readonly typing: Typing;
  readonly keys: KeyByKey;
  readonly screen: Screen;
  readonly clock: Clock;
  /** What was said before, newest first. */
  readonly history: readonly Recalled[];
  complete(draft: ChatDraft): Promise<Completion | undefined>;
}

/** `nothing`: Enter, with nothing typed. `left`: they are gone. */
export type Read =
  | { readonly kind: 'said'; readonly draft: ChatDraft }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'left' };

const LEAVES = 'Ctrl-C once more, or Ctrl-D, leaves the chat';
const TOO_LONG = 'that is more than one message can hold (limit promptBytes): put it into a file and name it with @';

/** Reads one message. `signal` aborts when nobody wants to know any more. */
export async function readMessage(parts: EditorParts, begun: ChatDraft, signal: AbortSignal): Promise<Read> {
  const { keys, typing, screen, clock } = parts;
  const line = createDrawnLine(screen);
  const editing = createEditing(parts, begun);
  const size = watchSize(screen, clock, {
    changes: () => undefined,
    settles() {
      line.resized();
      draw();
    },
  });
  const draw = (): void => (size.isChanging() ? undefined : line.draw(editing.draft(), editing.hints()));
  const { promise, resolve } = Promise.withResolvers<Read>();
  const leave = (): void => resolve({ kind: 'left' });
  /** Left by Ctrl-Z: then nothing of it is on the screen, until it is drawn again. */
  let suspended = false;
  const stopListening = typing.listen({
    async key(key) {
      if (key.kind === 'key' && key.name === 'suspend') {
        // It is drawn anew below what the shell says: one that stays would stand there twice.
        line.erase();
        suspended = true;
        await keys.suspend();
        return typing.take();
      }
      suspended = false;
      if (key.kind === 'key' && key.name === 'redraw') {
        screen.write('\u001b[H\u001b[2J');
        return line.forget();
      }
      const read = await editing.heard(key);
      if (read === undefined) return;
      // What is typed behind it is for whoever listens next.
      stopListening();
      resolve(read);
    },
    idle: draw,
  });
  const stopReturning = keys.onReturn(() => {
    typing.take();
    // Whoever else has stopped it had a screen with it, and may have none of it now.
    if (!suspended) line.forget();
    suspended = false;
    draw();
  });
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    draw();
    const read = await promise;
    if (size.isChanging()) line.resized();
    if (read.kind === 'said') line.commit(read.draft);
    else line.erase();
    return read;
  } finally {
    for (const stop of [stopListening, size.stop, stopReturning]) stop();
    signal.removeEventListener('abort', leave);
  }
}

interface Editing {
  draft(): ChatDraft;
  hints(): readonly string[];
  heard(key: Heard): Promise<Read | undefined>;
}

function createEditing({ screen, history, complete }: EditorParts, begun: ChatDraft): Editing {
  let draft = begun;
  let hints: readonly string[] = [];
  let leaving = false;
  /** How far back in what was said before; -1 is what is being typed. */
  let back = -1;
  let kept = begun;
  const recall = (to: number): void => {
    const said = history[to];
    if (to < -1 || (to >= 0 && said === undefined)) return;
    if (back === -1) kept = draft;
    back = to;
    draft = said === undefined ? kept : said();
  };
  const interrupt = (): Read | undefined => {
    if (isEmptyDraft(draft) && leaving) return { kind: 'left' };
    leaving = isEmptyDraft(draft);
    hints = leaving ? [LEAVES] : [];
    draft = emptyDraft;
    back = -1;
    return undefined;
  };
  const tab = async (): Promise<void> => {
    const found = await complete(draft);
    if (found === undefined) return;
    draft = draftReplaced(draft, found.from, found.text);
    hints = found.choices;
  };
  const named = async (name: KeyName): Promise<Read | undefined> => {
    if (name === 'end of input') {
      if (isEmptyDraft(draft)) return { kind: 'left' };
      draft = editedDraft(draft, 'delete');
    } else if (name === 'enter') {
      if (isEmptyDraft(draft)) return { kind: 'nothing' };
      if (!endsWithBackslash(draft)) return { kind: 'said', draft };
      draft = draftReplaced(draft, draft.cursor - 1, '\n');
    } else if (name === 'up' || name === 'down') {
      const next = movedByRow(draft, screen.width(), name === 'up' ? -1 : 1);
      if (next === undefined) recall(back + (name === 'up' ? 1 : -1));
      else draft = next;
    } else if (name === 'tab') await tab();
    else draft = editedDraft(draft, name);
    return undefined;
  };
  const typed = (key: Extract<Key, { readonly text: string }>): void => {
    const next = typedInto(draft, key);
    if (next === undefined) hints = [TOO_LONG];
    else draft = next;
  };
  return {
    draft: () => draft,
    hints: () => hints,
    async heard(key) {
      if (key.kind === 'gone') return { kind: 'left' };
      if (key.kind === 'key' && key.name === 'interrupt') return interrupt();
      leaving = false;
      hints = [];
      if (key.kind === 'key') return await named(key.name);
      typed(key);
      return undefined;
    },
  };
}

function endsWithBackslash({ cells, cursor }: ChatDraft): boolean {
  return cursor === cells.length && cells.at(-1)?.text === '\\' && cells.at(-1)?.pasted === false;
}
