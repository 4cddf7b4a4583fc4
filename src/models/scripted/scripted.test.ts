import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answerIn, failureIn, modelRequest, openModel } from '../../../test/support/models/client.ts';
import { systemClock } from '../../base/clock.ts';
import { type Message, textOf, userText } from '../../events/messages.ts';
import { createModelCatalogue } from '../catalogue.ts';
import type { Model, ModelDelta, ModelRequest } from '../port.ts';
import { scriptedModel } from './scripted.ts';

async function openScript(text: string): Promise<Model> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-script-'));
  await writeFile(join(folder, 'replies.yaml'), text);
  return await openModel(createModelCatalogue({ env: {}, clock: systemClock, folder }), 'scripted:replies.yaml');
}

/** Plays a conversation: every call gets the same result. */
async function converse(model: Model, change: Partial<ModelRequest>, turns: number, result = 'a result'): Promise<Message[]> {
  const messages: Message[] = [userText('Find the ship')];
  for (let turn = 0; turn < turns; turn += 1) {
    const { message } = answerIn(await model.ask(modelRequest({ ...change, messages: [...messages] })));
    messages.push(message);
    const results = message.content.flatMap((part) =>
      part.type === 'tool-call'
        ? [{ type: 'tool-result' as const, id: part.id, name: part.name, content: [{ type: 'text' as const, text: result }] }]
        : [],
    );
    if (results.length > 0) messages.push({ role: 'tool', content: results });
  }
  return messages;
}

const SCRIPT = `
- reasoning: First look.
  text: Looking for "{{prompt}}".
  toolCalls:
    - { name: list, input: { path: ., deep: ["{{prompt}}"] } }
    - { name: broken, rawInput: '{"a": 1,' }
- finalReport: "It says: {{lastToolResult}}"
`;

describe('a script in a file', () => {
  it('plays its replies in order, with templates filled in', async () => {
    const messages = await converse(await openScript(SCRIPT), {}, 2);
    expect(messages[1]?.content).toMatchObject([
      { type: 'reasoning', text: 'First look.' },
      { type: 'text', text: 'Looking for "Find the ship".' },
      { type: 'tool-call', name: 'list', input: { path: '.', deep: ['Find the ship'] } },
      { type: 'tool-call', name: 'broken', input: { a: 1 } },
    ]);
    expect(messages[3]?.content).toMatchObject([{ name: 'final_report', input: { report: 'It says: a result\na result' } }]);
  });

  it('finds in the conversation what nobody could know before', async () => {
    const script = `
- toolCalls: [{ name: look, input: { id: "{{match Find the (\\\\w+)}}", all: "{{ match F\\\\w+ }}", none: "{{match thr_}}" } }]
`;
    const messages = await converse(await openScript(script), {}, 1);
    expect(messages[1]?.content).toMatchObject([{ input: { id: 'ship', all: 'Find', none: '{{match thr_}}' } }]);
  });

  it('gives the same answer to the same conversation, in a fresh process too, and estimates usage the same way', async () => {
    const messages = await converse(await openScript(SCRIPT), {}, 1);
    const [one, two] = [await openScript(SCRIPT), await openScript(SCRIPT)];
    const first = answerIn(await one.ask(modelRequest({ messages })));
    expect(answerIn(await two.ask(modelRequest({ messages })))).toEqual(first);
    expect(answerIn(await two.ask(modelRequest({ messages })))).toEqual(first);
    expect(first.usage.inputTokens).toBeGreaterThan(10);
  });

  it('says so when it has no reply left', async () => {
    const model = await openScript('- text: only one');
    const messages = await converse(model, {}, 1);
    const failure = failureIn(await model.ask(modelRequest({ messages, agent: 'mate' })));
    expect(failure).toMatchObject({ kind: 'script_ended' });
    expect(failure.message).toContain('turn 2 of mate');
  });

  it('keeps agents apart, by section and by condition', async () => {
    const model = await openScript(`
agents:
  captain: [{ text: I am the captain }]
replies:
  - { when: { agent: mate }, text: I am the mate }
  - { text: I am somebody }
`);
    const said = async (agent: string): Promise<string> =>
      textOf(answerIn(await model.ask(modelRequest({ agent }))).message.content);
    expect([await said('captain'), await said('mate'), await said('cook')]).toEqual([
      'I am the captain',
      'I am the mate',
      'I am somebody',
    ]);
  });

  it('answers cues whenever they come, without losing its place', async () => {
    const model = await openScript(`
- { text: one, toolCalls: [{ name: look }] }
- { when: { contains: storm }, text: Reef the sails, toolCalls: [{ name: reef }] }
- { text: two }
`);
    const calm = await converse(model, {}, 2, 'calm sea');
    expect(textOf(calm.at(-1)?.content as never)).toBe('two');
    const stormy = await converse(model, {}, 3, 'a storm');
    expect(stormy.filter((message) => message.role === 'assistant').map((message) => textOf(message.content))).toEqual([
      'one',
      'Reef the sails',
      'Reef the sails',
    ]);
    const over = [...stormy, userText('calm now')];
    expect(textOf(answerIn(await model.ask(modelRequest({ messages: over }))).message.content)).toBe('two');
  });

  it('fails as it is told: always, or only so many times', async () => {
    const always = await openScript('- error: { kind: auth, message: No., status: 401 }');
    expect(failureIn(await always.ask(modelRequest()))).toEqual({ kind: 'auth', message: 'No.', status: 401 });
    const twice = await openScript('- { error: { kind: overloaded, times: 2, retryAfterMs: 5 }, text: here }');
    const kinds: string[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1) kinds.push((await twice.ask(modelRequest())).kind);
    expect(kinds).toEqual(['failed', 'failed', 'answer']);
  });

  it('takes its time, but no longer than the timeout, and can be cancelled', async () => {
    const model = await openScript('- { text: slow, delayMs: 60000 }');
    expect(failureIn(await model.ask(modelRequest({ timeoutMs: 10 })))).toMatchObject({ kind: 'timeout' });
    const controller = new AbortController();
    const asking = model.ask(modelRequest({ signal: controller.signal }));
    controller.abort();
    expect(failureIn(await asking)).toMatchObject({ kind: 'cancelled' });
    expect(failureIn(await model.ask(modelRequest({ signal: controller.signal })))).toMatchObject({ kind: 'cancelled' });
  });

  it('streams in small pieces', async () => {
    const deltas: ModelDelta[] = [];
    const model = await openScript('- { text: A text that is longer than one piece., toolCalls: [{ name: look }] }');
    await model.ask(modelRequest({ onDelta: (delta) => deltas.push(delta) }));
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('')).toBe(
      'A text that is longer than one piece.',
    );
    expect(deltas.at(-1)).toEqual({ type: 'tool', name: 'look' });
  });

  it('refuses a file that is not a script, and says why', async () => {
    for (const [text, why] of [
      ['- {}', 'says nothing'],
      ['- txt: hello', 'txt'],
      ['- text: [', 'not YAML'],
      ['hello', 'not right'],
      ['- error: { kind: tired }', 'kind'],
    ] as const) {
      await expect(openScript(text)).rejects.toThrow(why);
    }
    const catalogue = createModelCatalogue({ env: {}, clock: systemClock, folder: tmpdir() });
    expect(await catalogue.open('scripted:missing.yaml')).toMatchObject({ ok: false, error: { kind: 'invalid_request' } });
  });
});

describe('a script in a test', () => {
  it('keeps what it was asked, and tells which calls nobody expected', async () => {
    const model = scriptedModel([{ text: 'one' }], { clock: systemClock });
    const messages = await converse(model, {}, 1);
    expect(model.unexpected).toHaveLength(0);
    expect(failureIn(await model.ask(modelRequest({ messages }))).kind).toBe('script_ended');
    expect(model.calls).toHaveLength(2);
    expect(model.unexpected).toHaveLength(1);
  });

  it('can be a function of the request', async () => {
    const model = scriptedModel((request, call) => (call < 2 ? { text: `${call}: ${request.agent}` } : undefined), {
      clock: systemClock,
    });
    const said: string[] = [];
    for (const agent of ['a', 'b']) said.push(textOf(answerIn(await model.ask(modelRequest({ agent }))).message.content));
    expect(said).toEqual(['0: a', '1: b']);
    expect(failureIn(await model.ask(modelRequest())).kind).toBe('script_ended');
  });
});
