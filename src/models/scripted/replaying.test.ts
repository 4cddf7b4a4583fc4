import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answerIn, failureIn, modelRequest, openModel } from '../../../test/support/models/client.ts';
import { systemClock } from '../../base/clock.ts';
import { eventId, type PayloadRef, type RunId, type SessionId } from '../../base/ids.ts';
import type { EventType, Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { type AssistantMessage, type Message, textOf, userText } from '../../events/messages.ts';
import { createModelCatalogue } from '../catalogue.ts';
import { replayingModel } from './replaying.ts';

const session = 'ses_test' as SessionId;
const says = (text: string): AssistantMessage => ({ role: 'assistant', content: [{ type: 'text', text }] });
const calling: AssistantMessage = { role: 'assistant', content: [{ type: 'tool-call', id: 'c1', name: 'look', input: {} }] };
const result = (text: string): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', id: 'c1', name: 'look', content: [{ type: 'text', text }] }],
});

function recorder() {
  const events: LedgerEvent[] = [];
  const add = <Type extends EventType>(
    run: string,
    agent: string,
    event_type: Type,
    payload: Payloads[Type],
    step: string | null,
  ): void => {
    const position = events.length + 1;
    const envelope = {
      event_id: eventId(session, position),
      parent_event_id: null,
      session_id: session,
      run_id: run as RunId,
      timestamp: '2026-01-01T00:00:00Z',
      actor: `agent:${agent}`,
      tool: null,
      payload_ref: '' as PayloadRef,
      attachment_ref: null,
      schema_version: 1,
    };
    events.push({ ...envelope, event_type, payload, step, position } as unknown as LedgerEvent);
  };
  const turn = (
    run: string,
    agent: string,
    number: number,
    added: Payloads['model.request']['added'],
    message: AssistantMessage,
  ): void => {
    add(run, agent, 'model.request', { turn: number, model: 'anthropic/m', added }, `turn/${number}/model`);
    const payload = {
      turn: number,
      message,
      finish: 'stop',
      usage: { inputTokens: 9 },
      requested: 'anthropic/m',
      served: 'anthropic/m',
      attempts: 1,
      durationMs: 5,
    } as const;
    add(run, agent, 'model.response', payload, `turn/${number}/model`);
  };
  return { events, add, turn };
}

function session1(): readonly LedgerEvent[] {
  const { events, add, turn } = recorder();
  for (const [run, agent, place] of [
    ['run_a', 'captain', 'north'],
    ['run_b', 'mate', 'south'],
  ] as const) {
    add(run, agent, 'run.started', { agent, input: userText(`Go ${place}`), origin: { kind: 'person' }, depth: 0 }, null);
    turn(run, agent, 1, [{ step: 'input' }], calling);
    add(
      run,
      agent,
      'tool.result',
      { id: 'c1', name: 'look', content: [{ type: 'text', text: `ice in the ${place}` }], durationMs: 1 },
      'turn/1/tool/0',
    );
    turn(run, agent, 2, [{ step: 'turn/1/model' }, { step: 'turn/1/tool/0' }], says(`The ${place} is closed.`));
  }
  return events;
}

describe('replayingModel', () => {
  it('answers as it did, each agent for itself, and is not paid for it', async () => {
    const model = replayingModel(session1(), { id: 'recorded:ses_test' });
    for (const [agent, place] of [
      ['mate', 'south'],
      ['captain', 'north'],
    ] as const) {
      const messages: Message[] = [userText(`Go ${place}`)];
      const first = answerIn(await model.ask(modelRequest({ agent, messages })));
      expect(first.message).toEqual(calling);
      messages.push(first.message, result(`ice in the ${place}`));
      const second = answerIn(await model.ask(modelRequest({ agent, messages })));
      expect(textOf(second.message.content)).toBe(`The ${place} is closed.`);
      expect(second.served).toBe('recorded:ses_test');
    }
  });

  it('says how the run has drifted', async () => {
    const model = replayingModel(session1(), { id: 'recorded:x' });
    const failWith = async (agent: string, messages: Message[]) => failureIn(await model.ask(modelRequest({ agent, messages })));
    const changed = await failWith('captain', [userText('Go north'), calling, result('open water')]);
    expect(changed.kind).toBe('script_ended');
    expect(changed.message).toContain('"open water", recorded is "ice in the north"');
    expect((await failWith('cook', [userText('Go north')])).message).toContain('no answer of cook');
    const longer = [userText('Go north'), calling, result('ice in the north'), says('x'), userText('And now?')];
    expect((await failWith('captain', longer)).message).toContain('turn 3');
  });

  it('is opened by the name of a session or of a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'troupe-recording-'));
    await writeFile(
      join(folder, 'past.jsonl'),
      [...session1().map((event) => JSON.stringify(event)), 'not an event', ''].join('\n'),
    );
    const readSession = async (name: string) => (name === session ? session1() : undefined);
    const catalogue = createModelCatalogue({ env: {}, clock: systemClock, folder, readSession });
    for (const name of [`recorded:${session}`, 'recorded:past.jsonl']) {
      const model = await openModel(catalogue, name);
      expect(answerIn(await model.ask(modelRequest({ agent: 'mate', messages: [userText('Go south')] }))).message).toEqual(
        calling,
      );
    }
    for (const name of ['recorded:ses_other', 'recorded:missing.jsonl']) {
      expect(await catalogue.open(name)).toMatchObject({ ok: false, error: { kind: 'invalid_request' } });
    }
  });
});
