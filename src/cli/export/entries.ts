/** What was said and done, event by event, as whoever reads an export sees it. Nothing in it is cut but what is too long. */
import type { RunId } from '../../base/ids.ts';
import { type Json, readableJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { type Message, textOf } from '../../events/messages.ts';
import { spendingOf } from '../../projections/costs.ts';
import { isBroadcast } from '../../projections/patterns/broadcast-text.ts';
import { readableCost, readableDuration, readableInAndOut } from '../../projections/readable.ts';
import { answerLine, timelineLine } from '../../projections/timeline.ts';

/** Text of others, whole and as it is: whoever writes it somewhere makes it harmless there. */
export interface Block {
  readonly label?: string;
  readonly language: 'text' | 'json' | 'markdown';
  readonly text: string;
}

export interface Entry {
  readonly at: string;
  readonly run: RunId;
  readonly agent: string;
  /** How many runs are above this one. */
  readonly depth: number;
  readonly title: string;
  readonly blocks: readonly Block[];
}

type Said = Pick<Entry, 'title' | 'blocks'>;

/** Gives the entries of events in order; keeps whose run is whose, what each has said last, and nothing else. */
export function createEntries(): (event: LedgerEvent) => Entry | undefined {
  const agents = new Map<RunId, string>();
  const depths = new Map<RunId, number>();
  const words = new Map<RunId, string>();
  return (event) => {
    const line = timelineLine(agents, event);
    if (event.event_type === 'run.started') depths.set(event.run_id, event.payload.depth);
    if (event.event_type === 'model.response') words.set(event.run_id, lastWords(event.payload.message));
    const said =
      saidIn(event, words.get(event.run_id)) ?? (line.level === 'detail' ? undefined : { title: line.text, blocks: [] });
    if (said === undefined) return undefined;
    const { run, agent, time } = line;
    return { at: time, run, agent, depth: depths.get(run) ?? 0, title: said.title, blocks: said.blocks.map(bounded) };
  };
}

function bounded(block: Block): Block {
  const left = block.text.length - limits.exportTextCharacters;
  if (left <= 0) return block;
  const more = `\n… ${left} more characters (limit exportTextCharacters); --format jsonl has all of them`;
  return { ...block, language: 'text', text: block.text.slice(0, limits.exportTextCharacters) + more };
}

const lastWords = ({ content }: Payloads['model.response']['message']): string =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** `undefined` where one line says enough. `before`: what the run said last. */
function saidIn(event: LedgerEvent, before = ''): Said | undefined {
  switch (event.event_type) {
    case 'run.started':
      return { title: 'is asked', blocks: messageBlocks(event.payload.input) };
    case 'run.ended':
      return ended(event.payload, before);
    case 'model.request':
      return ofRuntime(event.payload);
    case 'model.response':
      return answered(event.payload);
    case 'tool.call':
      return event.payload.input === undefined
        ? undefined
        : { title: `${event.payload.name} is called with changed arguments`, blocks: [jsonBlock(event.payload.input)] };
    case 'tool.result':
      return result(event.payload);
    case 'message.sent':
      return {
        title: messageTitle(event.payload),
        blocks: [{ language: 'markdown', text: event.payload.content }],
      };
    default:
      return saidAside(event);
  }
}

function messageTitle({ from, to, person }: Payloads['message.sent']): string {
  return person === undefined ? `message from ${from.assistant} to ${to.assistant}` : `${person.by} says to ${to.assistant}`;
}

function saidAside(event: LedgerEvent): Said | undefined {
  switch (event.event_type) {
    case 'context.noted':
      return { title: 'is told by the runtime', blocks: [plain(event.payload.text)] };
    case 'task.summary':
      return { title: 'the conversation is condensed', blocks: [plain(event.payload.text)] };
    case 'task.clarify':
      return { title: 'asks a question', blocks: [plain([event.payload.question, ...(event.payload.choices ?? [])].join('\n'))] };
    case 'approval.asked': {
      const { tool, input, why, preview } = event.payload;
      return {
        title: `asks for permission: ${tool}`,
        blocks: [plain(why), preview === undefined ? jsonBlock(input) : plain(preview)],
      };
    }
    case 'approval.answered':
      return { title: answerLine(event.payload), blocks: answerBlocks(event.payload.answer) };
    default:
      return isBroadcast(event)
        ? { title: 'says to the others', blocks: [{ language: 'markdown', text: event.payload.message }] }
        : undefined;
  }
}

function answerBlocks(answer: Payloads['approval.answered']['answer']): readonly Block[] {
  if (answer.kind === 'text') return [plain(answer.text)];
  if (answer.kind === 'denied') return answer.note === undefined ? [] : [plain(answer.note)];
  return answer.kind === 'approved' && answer.input !== undefined ? [jsonBlock(answer.input)] : [];
}

const plain = (text: string): Block => ({ language: 'text', text });
const jsonBlock = (value: Json, label?: string): Block => ({
  ...present({ label }),
  language: 'json',
  text: readableJson(value),
});

type Parts = readonly (
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mediaType: string }
)[];

/** Pictures are named and not shown: an export fetches nothing. */
function contentBlocks(parts: Parts): readonly Block[] {
  const text = textOf(parts);
  const images = parts.flatMap((part) => (part.type === 'image' ? [plain(`[image: ${part.mediaType}]`)] : []));
  return [...(text === '' ? [] : [plain(text)]), ...images];
}

function messageBlocks(message: Message): readonly Block[] {
  switch (message.role) {
    case 'user':
      return contentBlocks(message.content);
    case 'tool':
      return message.content.flatMap(({ content }) => contentBlocks(content));
    case 'assistant':
      return message.content.map((part): Block => {
        if (part.type === 'text') return { language: 'markdown', text: part.text };
        if (part.type === 'reasoning') return { label: 'thinks', language: 'text', text: part.text };
        return part.malformed === undefined
          ? jsonBlock(part.input, `calls ${part.name}`)
          : { label: `calls ${part.name}, not in JSON`, language: 'text', text: part.malformed };
      });
  }
}

/** What a request carries beyond what was said elsewhere. */
function ofRuntime({ added }: Payloads['model.request']): Said | undefined {
  const blocks = added.flatMap((item) => ('message' in item ? messageBlocks(item.message) : []));
  return blocks.length === 0 ? undefined : { title: 'is told by the runtime', blocks };
}

function answered(payload: Payloads['model.response']): Said {
  const spent = spendingOf(payload);
  const facts = [
    `turn ${payload.turn}`,
    payload.served,
    readableInAndOut(spent),
    readableCost(spent),
    readableDuration(payload.durationMs),
  ];
  const blocks = messageBlocks(payload.message).filter(({ label, text }) => label !== undefined || text !== '');
  return { title: facts.join(' · '), blocks };
}

function result({ name, content, isError, durationMs, wholeBytes }: Payloads['tool.result']): Said {
  const cut = wholeBytes === undefined ? '' : ` · the agent saw a part of ${wholeBytes} bytes`;
  const title = `${isError === true ? 'error' : 'result'} of ${name} · ${readableDuration(durationMs)}${cut}`;
  return { title, blocks: contentBlocks(content) };
}

/** An answer that stands right above is not said twice. */
function ended({ status, report, error }: Payloads['run.ended'], before: string): Said {
  const isSaid = report.body.trim() === before.trim();
  const body: readonly Block[] = isSaid ? [] : [{ language: report.format, text: report.body }];
  return {
    title: `ended: ${status.replaceAll('_', ' ')}`,
    blocks: [...(error === undefined ? [] : [plain(error.message)]), ...body],
  };
}
