/** The floor for executors: the least that somebody must do to have one work, and nothing that is kept. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../src/base/json.ts';

export interface Driven {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** Everything that it says until its prompt has come to its end, and its process too. All that it asks for is allowed. */
export async function driveBare({ command, env, cwd }: Driven, prompt: string): Promise<string> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const wire = createWire(child);
  await wire.ask('initialize', {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
  });
  const session = await wire.ask('session/new', { cwd, mcpServers: [] });
  const { sessionId = '' } = isJsonObject(session) ? session : {};
  await wire.ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: prompt }] });
  const exited = once(child, 'exit');
  child.stdin?.end();
  // Whoever does not end with its input is ended.
  const late = setTimeout(() => child.kill('SIGKILL'), 3_000);
  await exited;
  clearTimeout(late);
  return wire.said();
}

function createWire(child: ChildProcess) {
  const open = new Map<number, (answer: Json) => void>();
  let last = 0;
  let said = '';
  const send = (message: JsonObject): void => void child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => {
    const parsed = parseJson(line);
    if (!parsed.ok || !isJsonObject(parsed.value)) return;
    const { id, method, params, result, error } = parsed.value;
    if (typeof method !== 'string') {
      if (error !== undefined) throw new Error(JSON.stringify(error));
      open.get(Number(id))?.(result ?? null);
    } else if (id === undefined) said += textIn(params);
    else send({ id, result: answerTo(method, isJsonObject(params) ? params : {}) });
  });
  return {
    said: () => said,
    ask(method: string, params: JsonObject): Promise<Json> {
      last += 1;
      const id = last;
      send({ id, method, params });
      return new Promise((resolve) => open.set(id, resolve));
    },
  };
}

function textIn(params: Json | undefined): string {
  const update = isJsonObject(params) ? params['update'] : undefined;
  if (!isJsonObject(update) || update['sessionUpdate'] !== 'agent_message_chunk') return '';
  const content = update['content'];
  return isJsonObject(content) && typeof content['text'] === 'string' ? content['text'] : '';
}

function answerTo(method: string, params: JsonObject): Json {
  const path = String(params['path']);
  if (method === 'fs/read_text_file') return { content: readFileSync(path, 'utf8') };
  if (method === 'fs/write_text_file') {
    writeFileSync(path, String(params['content']));
    return null;
  }
  const options = Array.isArray(params['options']) ? params['options'] : [];
  const yes = options.find((option) => isJsonObject(option) && option['kind'] === 'allow_once');
  return { outcome: { outcome: 'selected', optionId: isJsonObject(yes) ? (yes['optionId'] ?? null) : null } };
}
