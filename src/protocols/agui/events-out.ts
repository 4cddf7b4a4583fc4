/**
 * A run as events of AG-UI, from the ledger and from words as they come. Whoever joins late is told the same, only that what was
 * said before comes whole. Runs below the root are sub-agents: each is begun before anything of it is told, none is left open.
 */

import type { RunId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { LivePiece } from '../../engine/port.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { textOf } from '../../events/messages.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { RunTree } from '../../projections/run-tree.ts';
import { createShownCalls } from '../edges/calls.ts';

export type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface AgUiEvents {
  event(event: LedgerEvent, tree: RunTree): readonly AgUiEvent[];
  words(piece: LivePiece, tree: RunTree): readonly AgUiEvent[];
  /** Closes what is open, with what the whole answer adds to what was said. */
  close(answer: string | undefined, interrupts: readonly string[]): readonly AgUiEvent[];
}

interface OpenText {
  readonly key: string;
  readonly messageId: string;
  said: string;
}

/** The root's own events name no sub-agent. */
const ofRun = (root: string, run: string): object => (run === root ? {} : { subagentRunId: run });

/** What each run is saying: a message for each turn, and for each attempt at it. */
function createTexts(root: string) {
  const texts = new Map<string, OpenText>();
  let last = '';
  const closed = (run: string): readonly AgUiEvent[] => {
    const text = texts.get(run);
    texts.delete(run);
    return text === undefined ? [] : [{ type: 'TEXT_MESSAGE_END', messageId: text.messageId, ...ofRun(root, run) }];
  };
  const said = (run: string, key: string, delta: string, name: string | undefined): readonly AgUiEvent[] => {
    if (delta === '') return [];
    const open = texts.get(run);
    const isMore = open?.key === key;
    const text: OpenText = isMore ? open : { key, messageId: `msg_${key.replaceAll(/[^\w]/g, '_')}`, said: '' };
    const { messageId } = text;
    const start = { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...present({ name }), ...ofRun(root, run) };
    const before = isMore ? [] : [...closed(run), start];
    texts.set(run, text);
    text.said += delta;
    if (run === root) last = text.said;
    return [...before, { type: 'TEXT_MESSAGE_CONTENT', messageId, delta, ...ofRun(root, run) }];
  };
  return {
    ...{ said, closed, of: (run: string) => texts.get(run), all: () => [...texts.keys()] },
    /** What the root said last. */
    last: () => last,
  };
}

export function createAgUiEvents(root: RunId): AgUiEvents {
  const calls = createShownCalls();
  const begun = new Set<string>();
  const over = new Set<string>();
  /** Turns whose words are in the ledger. */
  const told = new Set<string>();
  const texts = createTexts(root);
  const { said, closed } = texts;
  const of = (run: string): object => ofRun(root, run);
  /** A sub-agent is begun where the first thing of it is told, and those above it before. */
  const began = (run: string, tree: RunTree): readonly AgUiEvent[] => {
    const node = tree.runs.get(run as RunId);
    if (run === root || begun.has(run) || node === undefined) return [];
    begun.add(run);
    const { parent, agent: name, note } = node;
    const above = parent === null || parent === root ? undefined : parent;
    const about = present({ parentSubagentRunId: above, description: note ?? undefined });
    return [...(above === undefined ? [] : began(above, tree)), { type: 'SUBAGENT_STARTED', subagentRunId: run, name, ...about }];
  };
  const answered = ({ run_id: run, payload }: EventOf<'model.response'>, tree: RunTree): readonly AgUiEvent[] => {
    told.add(`${run} ${payload.turn}`);
    const whole = textOf(payload.message.content);
    const open = texts.of(run);
    const rest =
      open !== undefined && whole.startsWith(open.said) ? whole.slice(open.said.length) : open === undefined ? whole : '';
    const key = open?.key ?? `${run} ${payload.turn} whole`;
    return [...said(run, key, rest, tree.runs.get(run)?.agent), ...closed(run)];
  };
  const ended = ({ run_id: run, payload }: EventOf<'run.ended'>): readonly AgUiEvent[] => {
    if (run === root || over.has(run)) return closed(run);
    over.add(run);
    const { status, error, report } = payload;
    const end = succeeded({ status })
      ? { type: 'SUBAGENT_FINISHED', subagentRunId: run, result: report.body, outcome: { type: 'success' } }
      : { type: 'SUBAGENT_ERROR', subagentRunId: run, message: error?.message ?? status, code: error?.code ?? status };
    return [...closed(run), end];
  };
  return {
    event(event, tree) {
      const news = calls.of(event).flatMap((one): readonly AgUiEvent[] => {
        const { id: toolCallId, tool, run, input } = one.call;
        if (one.kind === 'ended')
          return [
            {
              type: 'TOOL_CALL_RESULT',
              messageId: `${toolCallId}_result`,
              toolCallId,
              content: one.output,
              role: 'tool',
              ...of(run),
            },
          ];
        return [
          { type: 'TOOL_CALL_START', toolCallId, toolCallName: tool, ...of(run) },
          { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(input), ...of(run) },
          { type: 'TOOL_CALL_END', toolCallId, ...of(run) },
        ];
      });
      const own =
        event.event_type === 'model.response' ? answered(event, tree) : event.event_type === 'run.ended' ? ended(event) : [];
      const shown = [...news, ...own];
      const isStart = event.event_type === 'run.started';
      return shown.length > 0 || isStart ? [...began(event.run_id, tree), ...shown] : [];
    },
    words({ run, turn, attempt, offset, delta, agent }, tree) {
      const key = `${run} ${turn} ${attempt}`;
      if (delta.type !== 'text' || told.has(`${run} ${turn}`) || over.has(run)) return [];
      const open = texts.of(run);
      // Who missed something is told the whole when it is in the ledger.
      if (offset !== (open?.key === key ? open.said.length : 0)) return [];
      return [...began(run, tree), ...said(run, key, delta.text, agent)];
    },
    close(answer, interrupts) {
      const isSaid = answer === undefined || answer.trim() === texts.last().trim();
      const report = isSaid ? [] : said(root, `${root} report`, answer, undefined);
      const open = texts.all().flatMap(closed);
      const outcome = { type: 'suspended', ...(interrupts.length === 0 ? {} : { interruptIds: interrupts }) };
      const left = [...begun].filter((run) => !over.has(run)).toReversed();
      return [...report, ...open, ...left.map((subagentRunId) => ({ type: 'SUBAGENT_FINISHED', subagentRunId, outcome }))];
    },
  };
}
