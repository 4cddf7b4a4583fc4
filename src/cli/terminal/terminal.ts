/**
 * The outside of the command line: two streams, colours, width and whether somebody is there to ask. Commands get one as an
 * argument, so tests give them a terminal of their own.
 *
 * Results go to `out`, everything else to `progress`. Nobody is asked and nothing moves unless a person is at the other end.
 */

import { Writable } from 'node:stream';
import picocolors from 'picocolors';
import type { Environment } from '../../base/environment.ts';
import { type Draft, type Edited, type Editing, editorIn, startEditing } from './editor.ts';
import { createFullScreen, type FullScreen } from './full-screen.ts';
import { createKeyByKey, type KeyByKey } from './key-by-key.ts';
import { createKeyboard, type Keyboard } from './keyboard.ts';
import { proseLines } from './text-width.ts';
import { dropTypedAhead } from './type-ahead.ts';

type Paint = ReturnType<typeof picocolors.createColors>;

export interface Screen {
  /** Writes as it is: whoever calls has made untrusted text safe. */
  write(text: string): void;
  line(text?: string): void;
  /** Words behind a head: broken between words on a terminal, the rest indented; a pipe gets them as they are. */
  prose(text: string, shape?: Prose): void;
  readonly paint: Paint;
  readonly isTty: boolean;
  readonly width: () => number;
  readonly height: () => number;
  /** Whether the line that the cursor stands in is broken anew, too, when the window becomes narrower. */
  readonly breaksCursorLine: boolean;
  /** Calls back when the window has another size, until the returned function is called. */
  onResize(callback: () => void): () => void;
}

export interface Prose {
  /** Stands before the text, perhaps in colours. */
  readonly head?: string;
  readonly indent?: number;
}

export interface Terminal {
  readonly out: Screen;
  readonly progress: Screen;
  readonly input: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean };
  /** A person can be asked. */
  readonly interactive: boolean;
  /** Progress may be redrawn in place. */
  readonly animated: boolean;
  readonly env: Environment;
  readonly cwd: string;
  /** Asks a person; `undefined` when they end the input instead, or nobody wants to know any more. */
  ask(question: string, options?: AskOptions): Promise<string | undefined>;
  /** Has a text changed in the editor of whoever sits here, or says why not; `undefined` when they have named none. */
  edit(draft: Draft): Promise<Edited> | undefined;
  /** Calls back on SIGINT and SIGTERM until the returned function is called. */
  onStop(callback: (signal: 'SIGINT' | 'SIGTERM') => void): () => void;
  /** Ends the process at once: for the second Ctrl-C. */
  exitNow(code: number): void;
  readonly keyboard: Pick<Keyboard, 'hush' | 'onPause'>;
  /** For whoever draws what is being typed. */
  readonly keys: KeyByKey;
  /** The whole of `out`, for whoever draws all of it. */
  readonly fullScreen: FullScreen;
}

export interface AskOptions {
  /** Aborts when nobody wants to know any more. */
  readonly signal?: AbortSignal | undefined;
  /** What stands there to be changed. */
  readonly prefill?: string | undefined;
  /** Draws what is being typed, in place of the terminal itself. */
  readonly show?: ((line: { readonly text: string; readonly cursor: number }) => void) | undefined;
  /** Says what the question is about once more, after Ctrl-Z: the screen may have been cleared. Not where it is drawn. */
  readonly again?: (() => void) | undefined;
}

interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  on?(event: 'resize', callback: () => void): unknown;
  off?(event: 'resize', callback: () => void): unknown;
}

/** Control sequences for whoever draws in place. */
export const HIDE_CURSOR = '\u001b[?25l';
export const SHOW_CURSOR = '\u001b[?25h';
const DEFAULT_WIDTH = 80;
const DEFAULT_HEIGHT = 24;

export function createScreen(output: Output, colour: boolean, breaksCursorLine = true): Screen {
  const line = (text = ''): void => void output.write(`${text}\n`);
  return {
    write: (text) => void output.write(text),
    line,
    prose(text, shape = {}) {
      const width = output.isTTY === true ? Math.max(20, output.columns || DEFAULT_WIDTH) : undefined;
      for (const one of proseLines(text, width, shape)) line(one);
    },
    paint: picocolors.createColors(colour),
    isTty: output.isTTY === true,
    breaksCursorLine,
    width: () => Math.max(20, output.columns || DEFAULT_WIDTH),
    height: () => Math.max(2, output.rows || DEFAULT_HEIGHT),
    onResize(callback) {
      output.on?.('resize', callback);
      return () => void output.off?.('resize', callback);
    },
  };
}

/** `--no-color` and NO_COLOR win, then FORCE_COLOR, then whether it is a terminal that can. */
export function wantsColour(isTty: boolean, env: Terminal['env'], args: readonly string[]): boolean {
  if (args.includes('--no-color') || (env['NO_COLOR'] ?? '') !== '') return false;
  const force = env['FORCE_COLOR'];
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false';
  return isTty && env['TERM'] !== 'dumb';
}

export function wantsMotion(isTty: boolean, env: Terminal['env']): boolean {
  return isTty && env['TERM'] !== 'dumb' && !inAutomation(env);
}

/** Most terminals do; those that are made of xterm.js, as the one of VS Code is, and xterm itself do not. */
export function breaksCursorLine(env: Terminal['env']): boolean {
  return (env['TMUX'] ?? '') !== '' || (env['TERM_PROGRAM'] !== 'vscode' && (env['XTERM_VERSION'] ?? '') === '');
}

export function inAutomation(env: Terminal['env']): boolean {
  const value = env['CI'] ?? '';
  return value !== '' && value !== '0' && value !== 'false';
}

export function createTerminal(process: NodeJS.Process): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const args = process.argv.slice(2);
  const interactive = stdin.isTTY === true && stderr.isTTY === true && !inAutomation(env);
  const keyboard = createKeyboard(process);
  let editing: Editing | undefined;
  const keys = createKeyByKey(process);
  return {
    out: createScreen(stdout, wantsColour(stdout.isTTY, env, args), breaksCursorLine(env)),
    progress: createScreen(stderr, wantsColour(stderr.isTTY, env, args), breaksCursorLine(env)),
    input: stdin,
    interactive,
    animated: wantsMotion(stderr.isTTY, env),
    env,
    cwd: process.cwd(),
    ask: (question, options) => keyboard.lend(() => askOnce(process, question, options ?? {})),
    keyboard,
    fullScreen: createFullScreen(process),
    edit: (draft) => {
      const editor = editorIn(env);
      if (editor === undefined) return undefined;
      return keyboard.lend(async () => {
        if (stdin.isRaw) stdin.setRawMode(false);
        editing = startEditing(editor, draft, process);
        return await editing.done.finally(() => {
          editing = undefined;
        });
      });
    },
    keys,
    onStop: (callback) => {
      // In an editor Ctrl-C is the editor's.
      const interrupt = (): void => (editing !== undefined ? undefined : callback('SIGINT'));
      // Nothing is printed into what an editor draws: it ends first.
      const terminate = (): void => (editing === undefined ? callback('SIGTERM') : editing.stop(() => callback('SIGTERM')));
      process.on('SIGINT', interrupt);
      process.on('SIGTERM', terminate);
      return () => {
        process.off('SIGINT', interrupt);
        process.off('SIGTERM', terminate);
      };
    },
    exitNow: (code) => {
      keys.letGo();
      // Whoever was drawing had hidden the cursor.
      if (stderr.isTTY) stderr.write(SHOW_CURSOR);
      process.exit(code);
    },
  };
}

async function askOnce(
  process: NodeJS.Process,
  question: string,
  { signal, prefill, show, again }: AskOptions,
): Promise<string | undefined> {
  const { stdin, stderr } = process;
  const { createInterface } = await import('node:readline/promises');
  if ((await dropTypedAhead(stdin)) === 'interrupted') process.emit('SIGINT', 'SIGINT');
  if (signal?.aborted === true) return undefined;
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() });
  const prompt = createInterface({ input: stdin, output: show === undefined ? stderr : nowhere, terminal: stdin.isTTY });
  const changed = (): void => show?.({ text: prompt.line, cursor: prompt.cursor });
  let open = true;
  const left = new Promise<undefined>((resolve) => {
    const leave = (): void => {
      // Nobody has ended the line that the cursor stands in.
      if (open && show === undefined) stderr.write('\n');
      open = false;
      resolve(undefined);
    };
    prompt.once('close', leave);
    signal?.addEventListener('abort', leave, { once: true });
    prompt.once('SIGINT', () => {
      leave();
      // The terminal is in a mode in which Ctrl-C is a key like any other.
      process.emit('SIGINT', 'SIGINT');
    });
  });
  // Node lets go of the keyboard when the process comes back from Ctrl-Z: whoever wants it takes it again.
  prompt.on('SIGCONT', () => {
    prompt.resume();
    if (show === undefined) again?.();
    changed();
  });
  try {
    stdin.on('keypress', changed);
    const answer = prompt.question(show === undefined ? question : '').finally(() => {
      open = false;
    });
    if (prefill !== undefined) prompt.write(prefill);
    changed();
    return await Promise.race([answer, left]);
  } finally {
    open = false;
    stdin.off('keypress', changed);
    prompt.close();
  }
}
