/** A run as plain lines, for pipes, logs and continuous integration: one line per thing worth knowing, no motion. */
import type { RunId } from '../../base/ids.ts';
import type { EventOf } from '../../events/envelope.ts';
import { type Level, type TimelineLine, timelineLine } from '../../projections/timeline.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { proseLines, textWidth } from '../terminal/text-width.ts';
import type { RunView } from './run-view.ts';
import { createSaidOnce } from './said-once.ts';

const ORDER: Readonly<Record<Level, number>> = { detail: 0, info: 1, warn: 2, error: 3 };

export function createPlainLines(screen: Screen, atLeast: Level): RunView {
  const agents = new Map<RunId, string>();
  /** What is printed once nobody types any more. */
  let held: string[] | undefined;
  const hold = (yes: boolean): void => {
    const late = held ?? [];
    held = yes ? late : undefined;
    if (!yes) for (const text of late) screen.line(text);
  };
  const print = (line: TimelineLine): void => {
    for (const text of shownLines(line, screen)) {
      if (held === undefined) screen.line(text);
      else held.push(text);
    }
  };
  const once = createSaidOnce(print);
  return {
    streams: false,
    draws: false,
    say: (lines) => screen.write(lines.map((line) => `${line}\n`).join('')),
    typing: (line) => hold(line !== undefined),
    lend: () => {
      hold(true);
      return () => hold(false);
    },
    event: (event, tree) => {
      const agent = tree.runs.get(event.run_id)?.agent;
      if (agent !== undefined) agents.set(event.run_id, agent);
      const line = timelineLine(agents, event);
      const shown = event.event_type === 'approval.asked' ? inShort(line, event) : line;
      once.event(event, isAtLeast(line.level, atLeast) ? shown : undefined);
    },
    piece: () => undefined,
    rest: ({ roots, runs }) => {
      const [root] = roots.slice(-1);
      once.end(root === undefined ? undefined : runs.get(root)?.error?.message);
    },
    leave: () => undefined,
    back: () => undefined,
  };
}

/** The question itself says all of it, where it is put. */
const inShort = (line: TimelineLine, { payload }: EventOf<'approval.asked'>): TimelineLine => ({
  ...line,
  text: `asks to use ${payload.tool}`,
});

export function isAtLeast(level: Level, least: Level): boolean {
  return ORDER[level] >= ORDER[least];
}

/** `12:03:04 fixer: turn 1: calls read_file`. The time is UTC, as in the ledger. */
export function plainLine(line: TimelineLine, paint: Screen['paint']): string {
  return headed(line, paint, safeLine(line.text));
}

const TIME_COLUMNS = 9;

/** The same on a terminal: broken between words, the rest below the name. A pipe gets one line. */
export function shownLines(line: TimelineLine, { paint, isTty, width }: Screen): readonly string[] {
  if (!isTty) return [plainLine(line, paint)];
  const head = ' '.repeat(TIME_COLUMNS + textWidth(`${safeLine(line.agent)}: `));
  const [first = '', ...rest] = proseLines(safeLine(line.text), width(), { head, indent: TIME_COLUMNS });
  return [headed(line, paint, first.slice(head.length)), ...rest.map((text) => coloured(line, paint, text))];
}

const headed = (line: TimelineLine, paint: Screen['paint'], text: string): string =>
  `${paint.dim(line.time.slice(11, 19))} ${paint.bold(safeLine(line.agent))}: ${coloured(line, paint, text)}`;

const coloured = ({ level }: TimelineLine, paint: Screen['paint'], text: string): string =>
  level === 'error' ? paint.red(text) : level === 'warn' ? paint.yellow(text) : text;

/** Every event as one JSON line, as it is in the ledger. */
export function createJsonLines(screen: Screen): RunView {
  let held: string[] | undefined;
  return {
    streams: false,
    draws: false,
    say: () => undefined,
    typing: () => undefined,
    event: (event) => {
      const line = JSON.stringify(event);
      if (held === undefined) screen.line(line);
      else held.push(line);
    },
    lend: () => {
      // Where both are one terminal, they would be in the way.
      if (screen.isTty) held ??= [];
      return () => {
        const late = held ?? [];
        held = undefined;
        for (const line of late) screen.line(line);
      };
    },
    piece: () => undefined,
    rest: () => undefined,
    leave: () => undefined,
    back: () => undefined,
  };
}
