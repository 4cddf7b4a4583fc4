/**
 * What an executor tells in version 2, in the words of version 1: messages and calls that are sent whole or in pieces, terminals
 * that it shows by itself, changes that are told as a patch. Bounded: what is too much is not put together.
 */
import { Buffer } from 'node:buffer';
import { isJsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { callContent, messagePiece, noticeSaid, planItems, terminalSaid, update2, wholeMessage } from './schemas-2.ts';

export interface UpdateTranslation {
  updates(params: unknown, facts: (said: unknown) => unknown): readonly unknown[];
  /** Of what was said before nothing more is known. */
  clear(): void;
}

type Said = { readonly sessionUpdate: string; readonly messageId?: string | undefined } & Readonly<Record<string, unknown>>;

/** Words for a state that version 1 has no word for. */
const STATUS: Readonly<Record<string, string>> = { paused: 'in_progress', cancelled: 'failed' };

export function createUpdateTranslation(): UpdateTranslation {
  const messages = createMessages();
  const calls = createCallContents();
  const one = (said: Said, facts: (said: unknown) => unknown): readonly object[] => {
    switch (said.sessionUpdate) {
      case 'agent_message_chunk':
      case 'agent_thought_chunk':
        messages.piece(said);
        return [said];
      case 'agent_message':
      case 'agent_thought':
        return messages.whole(said);
      case 'tool_call_update':
        return [calls.told(said)];
      case 'tool_call_content_chunk':
        return calls.piece(said);
      case 'terminal_update':
      case 'terminal_output_chunk':
        return calls.terminal(said);
      case 'plan_update': {
        const plan = planItems.safeParse(said);
        return plan.success ? [{ sessionUpdate: 'plan', entries: plan.data.plan.entries }] : [];
      }
      case 'config_option_update':
        return [facts(said) as object];
      case 'notice': {
        const notice = noticeSaid.safeParse(said);
        if (!notice.success) return [];
        const text = [notice.data.title, notice.data.description].filter(Boolean).join(': ');
        return [{ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: `${text}\n` } }];
      }
      // What only version 1 has is nothing that may be told.
      case 'tool_call':
      case 'plan':
      case 'current_mode_update':
        return [];
      default:
        return [said];
    }
  };
  return {
    updates(params, facts) {
      const parsed = update2.safeParse(params);
      if (!parsed.success) return [params];
      const { sessionId, update } = parsed.data;
      return one(update, facts).map((said) => ({ sessionId, update: said }));
    },
    clear() {
      messages.clear();
      calls.clear();
    },
  };
}

/** A message that is told whole after its pieces says only what is new. */
function createMessages() {
  const said = new Map<string, string>();
  let bytes = 0;
  const add = (id: string | undefined, text: string): void => {
    bytes += Buffer.byteLength(text);
    if (id !== undefined && bytes <= limits.executorAnswerBytes) said.set(id, `${said.get(id) ?? ''}${text}`);
  };
  return {
    piece(update: Said): void {
      const parsed = messagePiece.safeParse(update);
      if (parsed.success) add(update.messageId, parsed.data.content.text ?? '');
    },
    whole({ sessionUpdate, messageId = '', ...update }: Said): readonly object[] {
      const parsed = wholeMessage.safeParse(update);
      if (!parsed.success) return [];
      const whole = parsed.data.content.map(({ text = '' }) => text).join('');
      const before = said.get(messageId) ?? '';
      // What was said cannot be unsaid here: a message that became another one is told after it.
      const text = whole.startsWith(before) ? whole.slice(before.length) : `\n${whole}`;
      if (whole === '' || text === '') return [];
      said.set(messageId, whole);
      return [{ sessionUpdate: `${sessionUpdate}_chunk`, content: { type: 'text', text } }];
    },
    clear(): void {
      said.clear();
      bytes = 0;
    },
  };
}

interface CallSaid {
  readonly content: readonly unknown[];
  readonly locations: readonly unknown[];
}

const NOTHING: CallSaid = { content: [], locations: [] };

function createCallContents() {
  const calls = new Map<string, CallSaid>();
  const terminals = new Map<string, Buffer>();
  const hasRoom = (map: ReadonlyMap<string, unknown>, id: string): boolean => map.has(id) || map.size < limits.executorCalls;
  /** The places of its changes are always among those that are told. */
  const shown = (id: string) => {
    const { content, locations } = calls.get(id) ?? NOTHING;
    const { blocks, paths } = contentOf(content, terminals);
    return { content: blocks, locations: [...paths.map((path) => ({ path })), ...locations] };
  };
  return {
    told(update: Said): object {
      const { toolCallId: id, content, status, locations } = update;
      const word = typeof status === 'string' ? (STATUS[status] ?? status) : undefined;
      const said = { ...update, ...present({ status: word }) };
      if (typeof id !== 'string' || !hasRoom(calls, id) || (content === undefined && locations === undefined)) return said;
      const before = calls.get(id) ?? NOTHING;
      calls.set(id, {
        content: replaced(before.content, content, limits.executorDiffs),
        locations: replaced(before.locations, locations, limits.executorLocations),
      });
      return { ...said, ...shown(id) };
    },
    piece({ toolCallId: id, content }: Said): readonly object[] {
      if (typeof id !== 'string' || !hasRoom(calls, id)) return [];
      const before = calls.get(id) ?? NOTHING;
      calls.set(id, { ...before, content: [...before.content, content].slice(-limits.executorDiffs) });
      return [{ sessionUpdate: 'tool_call_update', toolCallId: id, ...shown(id) }];
    },
    /** The calls that show it are told again when it is told of, and not at each piece of its output. */
    terminal(update: Said): readonly object[] {
      const { terminalId: id, sessionUpdate } = update;
      const parsed = terminalSaid.safeParse(update);
      if (typeof id !== 'string' || !parsed.success || !hasRoom(terminals, id)) return [];
      const { output, data } = parsed.data;
      const before = terminals.get(id) ?? Buffer.alloc(0);
      const bytes =
        output === undefined ? Buffer.concat([before, Buffer.from(data ?? '', 'base64')]) : Buffer.from(output.data, 'base64');
      terminals.set(id, bytes.subarray(-limits.executorCallOutputBytes));
      if (sessionUpdate === 'terminal_output_chunk') return [];
      const showing = [...calls].filter(([, { content }]) =>
        content.some((one) => isJsonObject(one) && one['terminalId'] === id),
      );
      return showing.map(([call]) => ({ sessionUpdate: 'tool_call_update', toolCallId: call, ...shown(call) }));
    },
    clear(): void {
      calls.clear();
      terminals.clear();
    },
  };
}

/** What is not said stays as it was; what is null is not there any more. */
const replaced = (before: readonly unknown[], said: unknown, most: number): readonly unknown[] =>
  said === undefined ? before : Array.isArray(said) ? said.slice(0, most) : [];

function contentOf(content: readonly unknown[], terminals: ReadonlyMap<string, Buffer>) {
  const paths: string[] = [];
  const blocks = content.map((one) => {
    const parsed = callContent.safeParse(one);
    if (!parsed.success) return one;
    const { type, terminalId = '', changes = [], patch } = parsed.data;
    if (type === 'terminal') return textBlock(terminals.get(terminalId)?.toString() ?? '');
    if (type !== 'diff') return one;
    const changed = changes.flatMap(({ path, oldPath }) => (oldPath === undefined ? [path] : [oldPath, path]));
    paths.push(...changed);
    return textBlock(patch?.text ?? changed.join('\n'));
  });
  return { blocks, paths };
}

const textBlock = (text: string) => ({ type: 'content', content: { type: 'text', text } });
