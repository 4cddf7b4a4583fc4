/**
 * A fake model server that speaks OpenAI chat-completions, in a process of its own. It thinks for no time and keeps no state
 * per run: the script is in the model's name, the position in it is the number of tool results in the request.
 * It scans the raw body instead of parsing it, so that its own cost stays small beside what is measured.
 *
 * It counts requests: a system that makes too few or too many is not measured but reported as failed.
 */
import { createServer, type ServerResponse } from 'node:http';
import { FINAL_MARK, ROUTER_MODEL } from './common.ts';

const FINAL =
  `${FINAL_MARK} Dear customer, two of your five orders (A-10293 and A-10311) were lost between the Köln hub and ` +
  'your local depot. I have opened a claim with the carrier and refunded both orders, 99.80 EUR in total. You will ' +
  'see the amount within three working days. The other three orders were delivered and signed for. We are sorry ' +
  'for the trouble, and thank you for your patience.';
/** What a router says that has one agent to choose from. */
const CHOICE = JSON.stringify({
  ...{ agentId: 'direct', confidence: 0.9, reasoning: 'It is the only one.', additionalAgents: [], agentInstructions: [] },
});
const TOOL_ROLE = Buffer.from('"role":"tool"');
const MODEL_KEY = Buffer.from('"model":"');
const STREAM = Buffer.from('"stream":true');
const QUOTE = 0x22;

interface Script {
  readonly name: string;
  readonly turns: number;
  readonly width: number;
  readonly delay: number;
  readonly stall: number | undefined;
}
interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: string;
}
interface Reply {
  readonly id: string;
  readonly model: string;
  readonly calls: readonly Call[];
  readonly usage: object;
  /** The final answer, where nothing is called. */
  readonly text: string;
}

const freshCounts = () => ({
  requests: 0,
  streamed: 0,
  outsideScript: 0,
  stalled: 0,
  inFlight: 0,
  peakInFlight: 0,
  bodyBytes: 0,
  /** On the monotonic clock that all processes of the machine share; 0 when there was none yet. */
  firstRequestAtMs: 0,
});
let counts = freshCounts();
let cpuAtReset = process.cpuUsage();
let stalling = true;
let serial = 0;
/** So many requests of sub-agents wait for each other, and are answered together; 0 when none waits. */
let gathering = 0;
const gathered: (() => void)[] = [];

function countToolResults(body: Buffer): number {
  let count = 0;
  for (let at = body.indexOf(TOOL_ROLE); at !== -1; at = body.indexOf(TOOL_ROLE, at + TOOL_ROLE.length)) count += 1;
  return count;
}

function scriptOf(body: Buffer): Script | undefined {
  const key = body.indexOf(MODEL_KEY);
  if (key === -1) return undefined;
  const start = key + MODEL_KEY.length;
  const name = body.toString('latin1', start, body.indexOf(QUOTE, start));
  if (name === ROUTER_MODEL) return { name, turns: 1, width: 0, delay: 0, stall: undefined };
  const match = /^bench-(?:t(\d+)|fan(\d+))(?:-d(\d+))?(?:-s(\d+))?$/.exec(name);
  if (match === null) return undefined;
  const [, turns = 0, width = 0, delay = 0, stall] = match;
  const numbers = { turns: Number(turns), width: Number(width), delay: Number(delay) };
  return { name, ...numbers, stall: stall === undefined ? undefined : Number(stall) };
}

function callsOf(script: Script, results: number): readonly Call[] {
  const call = (name: string, input: object): Call => {
    serial += 1;
    return { id: `call_${serial}`, name, input: JSON.stringify(input) };
  };
  if (script.width === 0) {
    if (results >= script.turns - 1) return [];
    return [call('lookup', { query: `customer 4711 order history and refunds, part ${results}`, page: results })];
  }
  if (results > 0) return [];
  return Array.from({ length: script.width }, (_, index) =>
    call('delegate', {
      task: `Check shipment ${index} of customer 4711 and report what happened.`,
      reason: 'Each shipment has its own history.',
    }),
  );
}

function usageOf(bodyBytes: number, completion: number): object {
  const prompt = Math.ceil(bodyBytes / 4);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: Math.floor(prompt * 0.8), audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

const identity = (reply: Reply, object: string) => ({
  id: reply.id,
  object,
  created: 1_760_000_000,
  model: reply.model,
  system_fingerprint: 'fp_bench',
});
const finishOf = (reply: Reply): string => (reply.calls.length === 0 ? 'stop' : 'tool_calls');

function answerWhole(response: ServerResponse, reply: Reply): void {
  const toolCalls = reply.calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.input },
  }));
  const said = reply.calls.length === 0 ? { content: reply.text } : { content: null, tool_calls: toolCalls };
  const body = Buffer.from(
    JSON.stringify({
      ...identity(reply, 'chat.completion'),
      service_tier: 'default',
      choices: [
        { index: 0, message: { role: 'assistant', ...said, refusal: null }, logprobs: null, finish_reason: finishOf(reply) },
      ],
      usage: reply.usage,
    }),
  );
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

function answerInPieces(response: ServerResponse, reply: Reply): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  const send = (rest: object): void => {
    response.write(`data: ${JSON.stringify({ ...identity(reply, 'chat.completion.chunk'), ...rest })}\n\n`);
  };
  const piece = (delta: object, finish: string | null = null): void =>
    send({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  piece({ role: 'assistant', content: reply.calls.length === 0 ? '' : null });
  for (const [index, call] of reply.calls.entries()) {
    piece({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] });
    for (let at = 0; at < call.input.length; at += 12) {
      piece({ tool_calls: [{ index, function: { arguments: call.input.slice(at, at + 12) } }] });
    }
  }
  if (reply.calls.length === 0) {
    for (let at = 0; at < reply.text.length; at += 16) piece({ content: reply.text.slice(at, at + 16) });
  }
  piece({}, finishOf(reply));
  send({ choices: [], usage: reply.usage });
  response.end('data: [DONE]\n\n');
}

function answerModel(response: ServerResponse, body: Buffer): void {
  if (counts.firstRequestAtMs === 0) counts.firstRequestAtMs = Number(process.hrtime.bigint()) / 1e6;
  const script = scriptOf(body);
  if (script === undefined) {
    counts.outsideScript += 1;
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"the model is not a script"}}');
    return;
  }
  const current = counts;
  current.requests += 1;
  current.bodyBytes += body.length;
  current.inFlight += 1;
  current.peakInFlight = Math.max(current.peakInFlight, current.inFlight);
  response.on('close', () => {
    current.inFlight -= 1;
  });
  const results = countToolResults(body);
  if (stalling && script.stall !== undefined && results >= script.stall) {
    current.stalled += 1;
    return;
  }
  const calls = callsOf(script, results);
  serial += 1;
  const usage = usageOf(body.length, calls.length === 0 ? 96 : 34 * calls.length);
  const text = script.name === ROUTER_MODEL ? CHOICE : FINAL;
  const reply = { id: `chatcmpl-${serial}`, model: script.name, calls, usage, text };
  const streamed = body.includes(STREAM);
  if (streamed) current.streamed += 1;
  const answer = streamed ? answerInPieces : answerWhole;
  if (gathering > 0 && script.width === 0) {
    gathered.push(() => answer(response, reply));
    if (gathered.length === gathering) for (const one of gathered.splice(0)) one();
  } else if (script.delay === 0) answer(response, reply);
  else setTimeout(answer, script.delay, response, reply);
}

/** What the benchmark itself asks the server; `undefined` for anything else. */
function control(url: string): string | undefined {
  if (url === '/stats') {
    const since = process.cpuUsage(cpuAtReset);
    const total = process.cpuUsage();
    const cpu = { cpuMs: (since.user + since.system) / 1_000, cpuTotalMs: (total.user + total.system) / 1_000 };
    return JSON.stringify({ ...counts, ...cpu });
  }
  if (url === '/reset') {
    counts = freshCounts();
    cpuAtReset = process.cpuUsage();
    return 'ok';
  }
  const together = /^\/gather\/(\d+)$/.exec(url)?.[1];
  if (together !== undefined) {
    gathering = Number(together);
    return 'ok';
  }
  if (url === '/stall/on' || url === '/stall/off') {
    stalling = url === '/stall/on';
    return 'ok';
  }
  return undefined;
}

const server = createServer((request, response) => {
  const url = request.url ?? '';
  const said = control(url);
  if (said !== undefined) return response.end(said);
  // A collector that takes every batch (bench/telemetry.ts).
  if (url === '/v1/traces') {
    request.on('end', () => response.end('{}')).resume();
    return undefined;
  }
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => answerModel(response, Buffer.concat(parts)));
  return undefined;
});
server.keepAliveTimeout = 600_000;
server.headersTimeout = 610_000;
server.requestTimeout = 0;
server.listen({ port: 0, host: '127.0.0.1', backlog: 8_192 }, () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.stdout.write(`PORT ${address.port}\n`);
});
