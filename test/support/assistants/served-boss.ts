/**
 * For the model server: a boss that a client spawned lets one assistant check a file, answers its question, has another
 * one count, and waits for three words of the client. Everybody acts on nothing but what their conversation says, so the scenario
 * can be cut and taken up anywhere; whoever did not hear a message would wait for it for ever.
 */
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import type { Reply, SeenRequest, ServerCall } from '../models/script.ts';
import { only } from './ledger.ts';

const TALKING = '[spawn_assistant, poll_assistant, send_message, recv_message]';

export const servedBossAgents = {
  boss: `description: Leads\nmodel: openai/boss\nmaxTurns: 500\ntools: ${TALKING}`,
  asker: `description: Checks files\nmodel: openai/asker\nmaxTurns: 500\ntools: ${TALKING}`,
  counter: 'description: Counts\nmodel: openai/counter\ntools: [list]',
};

/** What the client sends while the others work. */
export const WORDS = ['apple', 'bridge', 'candle'] as const;
export const SERVED_BOSS_REPORT = 'The file is fine, and there are three.';
const QUESTION = 'Which file?';
const ANSWER = 'It is main.ts.';
const CHECKED = 'main.ts was checked.';
const COUNTED = 'There are three.';

const WAIT_MS = 400;
const THINKING_MS = 15;

export function answerServedBoss(request: SeenRequest): Reply {
  const said = JSON.stringify({ ...request.body, tools: [] });
  const reply = parts[request.model]?.(said, request) ?? { fault: 'status', status: 400 };
  return 'fault' in reply ? reply : { ...reply, delayMs: THINKING_MS };
}

const parts: Readonly<Record<string, (said: string, request: SeenRequest) => Reply>> = {
  boss,
  asker,
  counter: (_said, { toolResults }) => (toolResults === 0 ? calling({ name: 'list', input: { path: '.' } }) : { text: COUNTED }),
};

function boss(said: string): Reply {
  const [, process_id, thread_id] = /process_id\W+(run_[0-9a-z]{20})\W+thread_id\W+(thr_[0-9a-z]{20})/.exec(said) ?? [];
  const has = (words: string): boolean => said.includes(words);
  if (process_id === undefined || thread_id === undefined)
    return calling({ name: 'spawn_assistant', input: { assistant_id: 'asker', query: 'Check the file.' } });
  if (has(QUESTION) && !has(ANSWER))
    return calling({ name: 'send_message', input: { to_assistant_id: 'asker', thread_id, message: ANSWER } });
  if (!has(CHECKED)) return waiting(process_id);
  if (!has(COUNTED))
    return calling({ name: 'spawn_assistant', input: { assistant_id: 'counter', query: 'Count.', run_mode: 'sync' } });
  return WORDS.every(has) ? calling({ name: 'final_report', input: { report: SERVED_BOSS_REPORT } }) : waiting(ownProcess(said));
}

function asker(said: string): Reply {
  const process = ownProcess(said);
  if (!said.includes(QUESTION)) {
    const thread_id = process.replace('run_', 'thr_');
    return calling({ name: 'send_message', input: { to_assistant_id: 'boss', thread_id, message: QUESTION } });
  }
  return said.includes(ANSWER) ? { text: CHECKED } : waiting(process);
}

const calling = (call: ServerCall): Reply => ({ calls: [call] });
const waiting = (process_id: string): Reply => calling({ name: 'poll_assistant', input: { process_id, wait_ms: WAIT_MS } });
const ownProcess = (said: string): string => `run_${/Your thread_id is thr_([0-9a-z]{20})/.exec(said)?.[1]}`;

/** What is wrong with a run that has come to its end: nothing. */
export function troublesIn(events: readonly LedgerEvent[], requests: readonly SeenRequest[]): readonly string[] {
  const sent = only(events, 'message.sent').map(({ payload }) => payload);
  const words = sent.map(({ content }) => content).toSorted();
  const expected = [...WORDS, QUESTION, ANSWER, CHECKED, COUNTED, SERVED_BOSS_REPORT].toSorted();
  const troubles = words.join() === expected.join() ? [] : [`sent were: ${words.join(', ')}`];
  if (new Set(sent.map(({ message }) => message)).size !== sent.length) troubles.push('two messages share an id');

  const included = only(events, 'message.included').map(({ payload }) => payload.message);
  const read = new Set(only(events, 'message.read').map(({ payload }) => payload.message));
  for (const { message, to, content } of sent) {
    const times = included.filter((one) => one === message).length;
    // What the counter reported was the answer of a call, and what the boss reported went to the client.
    const heardOtherwise = to.run === undefined || content === COUNTED;
    if (times !== (heardOtherwise ? 0 : 1)) troubles.push(`"${content}" was included ${times} times`);
    if (content === COUNTED && !read.has(message)) troubles.push(`"${content}" was not marked as read`);
  }
  const ends = only(events, 'run.ended').map(({ payload }) => payload.status);
  if (ends.join() !== 'completed,completed,completed') troubles.push(`the runs ended ${ends.join(', ')}`);
  if (only(events, 'run.started').length !== 3) troubles.push('there are not three runs');

  const last = JSON.stringify(requests.findLast(({ model }) => model === 'boss')?.body ?? '');
  for (const word of WORDS) {
    const times = last.split(word).length - 1;
    if (times !== 1) troubles.push(`the boss was told "${word}" ${times} times`);
  }
  return troubles;
}
