/**
 * The practical floor: a hand-written loop of one HTTP request, JSON and one SQLite insert per event. No checks, no retries,
 * no limits: it shows what the work itself costs, and nothing that does more can cost less.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import {
  DELEGATE_DESCRIPTION,
  DELEGATE_SCHEMA,
  LOOKUP_DESCRIPTION,
  LOOKUP_SCHEMA,
  type LookupInput,
  lookup,
  type Place,
  runModel,
  SUPERVISOR_PROMPT,
  SYSTEM_PROMPT,
  type System,
  subAgentScript,
  supervisorModel,
  USER_PROMPT,
} from '../common.ts';

interface ToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}
interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly tool_calls?: readonly ToolCall[];
}
type ChatMessage =
  | AssistantMessage
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };
interface Completion {
  readonly choices: readonly [{ readonly message: AssistantMessage }];
  readonly usage: unknown;
}

type Send = (body: string) => Promise<Completion>;
type Log = (id: string, kind: string, body: unknown) => void;
interface Offer {
  readonly tools: readonly unknown[];
  run(input: string): string | Promise<string>;
}

const offerOf = (name: string, description: string, parameters: object): readonly unknown[] => [
  { type: 'function', function: { name, description, parameters } },
];
const lookupOffer: Offer = {
  tools: offerOf('lookup', LOOKUP_DESCRIPTION, LOOKUP_SCHEMA),
  run: (input) => lookup(JSON.parse(input) as LookupInput),
};
const delegateTools = offerOf('delegate', DELEGATE_DESCRIPTION, DELEGATE_SCHEMA);

export async function openFloor(place: Place, client: 'fetch' | 'undici' | 'streaming'): Promise<System> {
  const send = client === 'undici' ? await sendByUndici(place) : client === 'fetch' ? sendByFetch(place) : sendStreaming(place);
  const store = openStore(place.folder);
  const loop = createLoop(send, store.log);

  const start = (id: string, prompt: string): ChatMessage[] => {
    const user = { role: 'user', content: prompt } as const;
    store.log(id, 'user', user);
    return [{ role: 'system', content: SYSTEM_PROMPT }, user];
  };

  return {
    run: (id, script) => loop(id, start(id, USER_PROMPT), runModel(script), lookupOffer),
    fanOut: (id, script) => {
      const delegate: Offer = {
        tools: delegateTools,
        run: (input) => {
          const { task } = JSON.parse(input) as { readonly task: string };
          const sub = `${id}/${task.slice(0, 20)}`;
          return loop(sub, start(sub, task), runModel(subAgentScript(script)), lookupOffer);
        },
      };
      return loop(id, start(id, SUPERVISOR_PROMPT), supervisorModel(script), delegate);
    },
    resume: (id, script) =>
      loop(id, [{ role: 'system', content: SYSTEM_PROMPT }, ...store.read(id)], runModel(script), lookupOffer),
    close: async () => store.close(),
  };
}

function createLoop(send: Send, log: Log) {
  return async (id: string, messages: ChatMessage[], model: string, offer: Offer): Promise<string> => {
    for (;;) {
      const completion = await send(JSON.stringify({ model, messages, tools: offer.tools }));
      const { message } = completion.choices[0];
      messages.push(message);
      log(id, 'assistant', { message, usage: completion.usage });
      if (message.tool_calls === undefined) return message.content ?? '';
      await Promise.all(
        message.tool_calls.map(async (call) => {
          const content = await offer.run(call.function.arguments);
          const result = { role: 'tool', tool_call_id: call.id, content } as const;
          messages.push(result);
          log(id, 'tool', result);
        }),
      );
    }
  };
}

const headersOf = (place: Place) => ({ 'content-type': 'application/json', authorization: `Bearer ${place.apiKey}` });

function sendByFetch(place: Place): Send {
  const url = `${place.baseUrl}/chat/completions`;
  const headers = headersOf(place);
  return async (body) => {
    const response = await fetch(url, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return (await response.json()) as Completion;
  };
}

interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function: { readonly name?: string; readonly arguments: string };
      }[];
    };
  }[];
  readonly usage?: unknown;
}

/** What a person who watches would see. */
export const shown = { characters: 0 };

/** The least that puts a streamed answer together, and shows each piece of it. */
function sendStreaming(place: Place): Send {
  const url = `${place.baseUrl}/chat/completions`;
  const headers = headersOf(place);
  return async (body) => {
    const streamed = `${body.slice(0, -1)},"stream":true,"stream_options":{"include_usage":true}}`;
    const response = await fetch(url, { method: 'POST', headers, body: streamed });
    if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
    let [content, usage, rest]: [string, unknown, string] = ['', undefined, ''];
    const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = [];
    const decoder = new TextDecoder();
    for await (const bytes of response.body) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.startsWith('data: {')) continue;
        const { choices, usage: counted } = JSON.parse(line.slice(6)) as Chunk;
        usage = counted ?? usage;
        const delta = choices[0]?.delta;
        if (delta === undefined) continue;
        content += delta.content ?? '';
        shown.characters += delta.content?.length ?? 0;
        for (const { index, id = '', function: part } of delta.tool_calls ?? []) {
          const call = calls[index];
          if (call === undefined)
            calls[index] = { id, type: 'function', function: { name: part.name ?? '', arguments: part.arguments } };
          else call.function.arguments += part.arguments;
        }
      }
    }
    const said = calls.length === 0 ? { content } : { content: null, tool_calls: calls };
    return { choices: [{ message: { role: 'assistant', ...said } }], usage };
  };
}

async function sendByUndici(place: Place): Promise<Send> {
  const { Agent, request } = await import('undici');
  const url = `${place.baseUrl}/chat/completions`;
  const headers = headersOf(place);
  const dispatcher = new Agent({ connections: null, pipelining: 1 });
  return async (body) => {
    const response = await request(url, { method: 'POST', headers, body, dispatcher });
    const completion = (await response.body.json()) as Completion;
    if (response.statusCode !== 200) throw new Error(`HTTP ${response.statusCode}`);
    return completion;
  };
}

function openStore(folder: string) {
  const database = new DatabaseSync(`${folder}/ledger.db`);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS event
      (seq INTEGER PRIMARY KEY, session TEXT NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS event_session ON event (session, seq);`);
  const insert = database.prepare('INSERT INTO event (session, kind, at, body) VALUES (?, ?, ?, ?)');
  const select = database.prepare('SELECT kind, body FROM event WHERE session = ? ORDER BY seq');
  const log: Log = (id, kind, body) => {
    insert.run(id, kind, Date.now(), JSON.stringify(body));
  };
  return { log, read: (id: string) => readMessages(select, id), close: () => database.close() };
}

function readMessages(select: StatementSync, id: string): ChatMessage[] {
  return select.all(id).map(({ kind, body: text }) => {
    const body: unknown = JSON.parse(String(text));
    return kind === 'assistant' ? (body as { readonly message: AssistantMessage }).message : (body as ChatMessage);
  });
}
