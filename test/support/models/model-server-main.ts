/**
 * The model server as a process of its own: `node test/support/models/model-server-main.ts [port]` prints `PORT <number>`.
 * It keeps no state: the script is the model's name, the position in it the number of tool results in the request.
 *
 * - `bench-t<turns>`: calls `lookup` in every turn but the last, which answers.
 * - `bench-fan<width>`: calls `delegate` that many times at once, then answers.
 * - `…-d<milliseconds>` answers after that time, `…-s<position>` hangs from that position on.
 * - `echo`: answers with the last user text; `fail-<status>`: fails.
 */
import { isJsonObject } from '../../../src/base/json.ts';
import { present } from '../../../src/base/present.ts';
import { startModelServer } from './model-server.ts';
import type { Reply, SeenRequest } from './script.ts';

const FINAL = 'FINAL-ANSWER Two of your five orders were lost on the way. Both are refunded; the other three were delivered.';

function benchReply(request: SeenRequest): Reply {
  const match = /^bench-(?:t(\d+)|fan(\d+))(?:-d(\d+))?(?:-s(\d+))?$/.exec(request.model);
  if (match === null) return { fault: 'status', status: 400, body: '{"error":{"message":"not in the script"}}' };
  const [turns, width, delay, stall] = match.slice(1).map((text) => (text === undefined ? undefined : Number(text)));
  const position = request.toolResults;
  if (stall !== undefined && position >= stall) return { fault: 'hang' };
  const usage = { input: Math.ceil(JSON.stringify(request.body).length / 4), output: 34 };
  const timing = present({ delayMs: delay });
  if (width !== undefined && position === 0) {
    const calls = Array.from({ length: width }, (_, index) => ({
      name: 'delegate',
      input: { task: `Check shipment ${index}.` },
    }));
    return { calls, usage, ...timing };
  }
  if (turns !== undefined && position < turns - 1) {
    const input = { query: `customer 4711 order history and refunds, part ${position}`, page: position };
    return { calls: [{ name: 'lookup', input }], usage, ...timing };
  }
  return { text: FINAL, usage: { ...usage, output: 96 }, ...timing };
}

function lastUserText(request: SeenRequest): string {
  const messages = Array.isArray(request.body['messages']) ? request.body['messages'] : [];
  const last: unknown = messages.findLast((message: unknown) => isJsonObject(message) && message['role'] === 'user');
  const content = isJsonObject(last) ? last['content'] : '';
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? content : [];
  return parts.map((part: unknown) => (isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : '')).join('');
}

const server = await startModelServer(
  (request) => {
    if (request.model === 'echo') return { text: lastUserText(request) };
    const failing = /^fail-(\d{3})$/.exec(request.model);
    return failing === null ? benchReply(request) : { fault: 'status', status: Number(failing[1]) };
  },
  {
    port: Number(process.argv[2] ?? 0),
    lists: { '/v1/models': { data: [{ id: 'echo' }] }, '/api/tags': { models: [{ name: 'echo' }] } },
  },
);
process.stdout.write(`PORT ${server.port}\n`);
process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));
