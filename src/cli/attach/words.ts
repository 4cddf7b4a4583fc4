/** What the runs of a tree have said, folded event by event, and drawn when somebody looks at one of them. */
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LivePiece } from '../../engine/port.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { textOf, toolCallsOf } from '../../events/messages.ts';
import { reportText } from '../../events/report-text.ts';
import { renderMarkdown } from '../markdown/render-markdown.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { wrapToWidth } from '../terminal/text-width.ts';

interface Entry {
  /** `aside`: about the answer, and no part of it. */
  readonly kind: 'markdown' | 'aside';
  readonly text: string;
  drawn?: { readonly width: number; readonly rows: readonly string[] };
}

export interface Words {
  apply(event: LedgerEvent): void;
  /** A piece of what a run is writing just now. */
  piece(piece: LivePiece): void;
  /** All of it as rows of this width. */
  rows(run: RunId, screen: Screen): Promise<readonly string[]>;
}

export function createWords(): Words {
  const entries = new Map<RunId, Entry[]>();
  const live = new Map<RunId, { readonly turn: number; readonly attempt: number; readonly text: string }>();
  const add = (run: RunId, kind: Entry['kind'], text: string): void => {
    if (text.trim() === '') return;
    const own = entries.get(run) ?? [];
    entries.set(run, own);
    // The report is what was said last, perhaps without what a screen would not show.
    if (shownOf(own.at(-1)?.text ?? '') === shownOf(text)) return;
    own.push({ kind, text });
    if (own.length > limits.attachEntries) own.shift();
  };
  return {
    apply(event) {
      const said = saidIn(event);
      const { turn = 0 } = live.get(event.run_id) ?? {};
      // It may come late: what is heard of the next turn by then stays.
      const isSaid = event.event_type === 'model.response' && turn <= event.payload.turn;
      if (isSaid || event.event_type === 'run.ended') live.delete(event.run_id);
      if (said !== undefined) add(event.run_id, said.kind, said.text);
      if (event.event_type === 'model.response') {
        const calls = toolCallsOf(event.payload.message).map(({ name }) => name);
        if (calls.length > 0) add(event.run_id, 'aside', `calls ${calls.join(', ')}`);
      }
    },
    piece({ run, turn, attempt, delta }) {
      if (delta.type !== 'text') return;
      const before = live.get(run);
      // What an attempt said that broke off is not what the next one says.
      const text = before?.turn === turn && before.attempt === attempt ? before.text : '';
      live.set(run, { turn, attempt, text: (text + delta.text).slice(-limits.liveTextCharacters) });
    },
    async rows(run, screen) {
      const rows: string[] = [];
      for (const entry of entries.get(run) ?? []) rows.push(...(rows.length === 0 ? [] : ['']), ...(await drawn(entry, screen)));
      const writing = live.get(run)?.text ?? '';
      if (writing.trim() !== '')
        rows.push('', ...wrapToWidth(safeText(writing).trimEnd(), screen.width()).map((line) => screen.paint.dim(line)));
      return rows;
    },
  };
}

const shownOf = (text: string): string => safeText(text).trim();

function saidIn(event: LedgerEvent): Pick<Entry, 'kind' | 'text'> | undefined {
  switch (event.event_type) {
    case 'run.started':
      return event.payload.input.role === 'user'
        ? { kind: 'aside', text: `asked: ${textOf(event.payload.input.content)}` }
        : undefined;
    case 'model.response':
      return { kind: 'markdown', text: textOf(event.payload.message.content) };
    case 'message.sent':
      return event.payload.person === undefined
        ? undefined
        : { kind: 'aside', text: `${event.payload.person.by} says: ${event.payload.content}` };
    case 'run.ended':
      return { kind: 'markdown', text: reportText(event.payload.report) };
    default:
      return undefined;
  }
}

const ASIDE_ROWS = 12;

async function drawn(entry: Entry, screen: Screen): Promise<readonly string[]> {
  const width = screen.width();
  if (entry.drawn?.width === width) return entry.drawn.rows;
  const rows = entry.kind === 'markdown' ? await renderMarkdown(entry.text, screen) : asideRows(entry.text, screen);
  entry.drawn = { width, rows };
  return rows;
}

function asideRows(text: string, { paint, width }: Screen): readonly string[] {
  const rows = wrapToWidth(safeText(text), width() - 2);
  const left = rows.length - ASIDE_ROWS;
  const shown = left > 0 ? [...rows.slice(0, ASIDE_ROWS), safeLine(`… ${left} more lines`)] : rows;
  return shown.map((line, index) => paint.dim(`${index === 0 ? '› ' : '  '}${line}`));
}
