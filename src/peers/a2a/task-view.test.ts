/** What pieces of a stream come to, those of strangers who mean no good included. */
import { type Artifact, type Message, type Part, Role, type StreamResponse, TaskState } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import { createTaskView } from './task-view.ts';

const text = (value: string): Part => ({ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' });
const message = (words: string): Message => ({
  ...{ messageId: 'm', contextId: 'c', taskId: 't', role: Role.ROLE_AGENT, parts: [text(words)] },
  ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
});
const status = (state: TaskState, words?: string) => ({
  state,
  message: words === undefined ? undefined : message(words),
  timestamp: undefined,
});
const artifact = (artifactId: string, ...parts: Part[]): Artifact => ({
  ...{ artifactId, name: artifactId, description: '', parts, metadata: undefined, extensions: [] },
});
const task = (
  state: TaskState,
  words?: string,
  artifacts: Artifact[] = [],
  metadata?: Record<string, unknown>,
): StreamResponse => ({
  payload: { $case: 'task', value: { id: 't', contextId: 'c', status: status(state, words), artifacts, history: [], metadata } },
});
const remembers = (state: TaskState, ...history: Message[]): StreamResponse => {
  const value = { id: 't', contextId: 'c', status: status(state), artifacts: [], history, metadata: undefined };
  return { payload: { $case: 'task', value } };
};
const moves = (state: TaskState, words?: string, taskId = 't'): StreamResponse => ({
  payload: { $case: 'statusUpdate', value: { taskId, contextId: 'c', status: status(state, words), metadata: undefined } },
});
const makes = (made: Artifact, append = false, taskId = 't'): StreamResponse => ({
  payload: {
    $case: 'artifactUpdate',
    value: { taskId, contextId: 'c', artifact: made, append, lastChunk: false, metadata: undefined },
  },
});

const { TASK_STATE_SUBMITTED: SUBMITTED, TASK_STATE_WORKING: WORKING, TASK_STATE_COMPLETED: COMPLETED } = TaskState;

function seen(...pieces: readonly StreamResponse[]) {
  const view = createTaskView('own');
  const shown: string[] = [];
  for (const piece of pieces) view.apply(piece, (words) => void shown.push(words));
  return { outcome: view.outcome(), task: view.task(), shown };
}

describe('what a peer says', () => {
  it('names its task with the first piece, and is at work', () => {
    expect(seen(task(SUBMITTED))).toMatchObject({ task: { task: 't', context: 'c' }, outcome: undefined });
    expect(seen(task(SUBMITTED), moves(WORKING, 'I look.'))).toMatchObject({ outcome: undefined, shown: ['I look.'] });
  });

  it('answers with what stands in its history alone, if it came after what we said', () => {
    const ours = { ...message('Porto'), role: Role.ROLE_USER };
    const outcome = (...history: Message[]) => seen(remembers(COMPLETED, ...history)).outcome;
    expect(outcome(ours, message('I look.'), message('Sun.'))).toMatchObject({ kind: 'answer', text: 'Sun.' });
    expect(outcome(message('Which city?'), ours)).toMatchObject({ kind: 'answer', text: '' });
    expect(outcome(ours, message('Sun.'), message(''))).toMatchObject({ kind: 'answer', text: 'Sun.' });
    expect(seen(remembers(TaskState.TASK_STATE_INPUT_REQUIRED, ours, message('Which?'))).outcome).toMatchObject({
      question: 'Which?',
    });
  });

  it('says data that is nested deeper than anybody reads down to there', () => {
    const nested = (levels: number) => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
      return artifact('a', { ...text(''), content: { $case: 'data', value } });
    };
    const said = (levels: number) => seen(task(COMPLETED, undefined, [nested(levels)])).outcome;
    expect(said(3)).toMatchObject({ text: '[{"a":[1]}]' });
    expect(said(limits.peerDataDepth)).toMatchObject({ text: expect.not.stringContaining('peerDataDepth') });
    expect(said(20_000)).toMatchObject({ text: expect.stringContaining('"[deeper than 100 levels (peerDataDepth)]"') });
  });

  it('says data on a line of its own where there is more, and as it is where there is nothing else', () => {
    const data: Part = { ...text(''), content: { $case: 'data', value: { k: 1 } } };
    const saysOf = (...parts: Part[]) => {
      const view = createTaskView('c');
      view.apply(task(TaskState.TASK_STATE_COMPLETED, undefined, [artifact('a', ...parts)]));
      const outcome = view.outcome();
      return outcome?.kind === 'answer' ? outcome.text : undefined;
    };
    expect(saysOf(data)).toBe('{"k":1}');
    expect(saysOf(text('Before.'), data, data, text('After'), text('wards.'))).toBe('Before.\n{"k":1}\n{"k":1}\nAfterwards.');
  });

  it('is not over before the whole is known, where pieces do not say that they are added', () => {
    const view = createTaskView('own', undefined, undefined, 'unmarked');
    for (const piece of [
      task(WORKING),
      makes(artifact('a', text('One, '))),
      makes(artifact('a', text('two.'))),
      moves(COMPLETED),
    ])
      view.apply(piece);
    expect(view.outcome()).toBeUndefined();
    view.apply(task(COMPLETED, undefined, [artifact('a', text('One, two.'))]));
    expect(view.outcome()).toMatchObject({ kind: 'answer', text: 'One, two.' });
  });

  it('answers with what it made, chunk by chunk, and the whole takes their place', () => {
    const chunks = [makes(artifact('a', text('Sun ')), true), makes(artifact('a', text('in Porto')), true)];
    expect(seen(task(SUBMITTED), ...chunks, moves(COMPLETED))).toMatchObject({
      outcome: { kind: 'answer', text: 'Sun in Porto', cut: false, task: 't', context: 'c' },
      shown: ['Sun ', 'in Porto'],
    });
    const whole = seen(task(SUBMITTED), ...chunks, makes(artifact('a', text('Rain.'))), moves(COMPLETED));
    expect(whole.outcome).toMatchObject({ kind: 'answer', text: 'Rain.' });
  });

  it.each([
    ['its last word', [moves(COMPLETED, 'All done.')], 'All done.'],
    ['what it said on the way', [moves(WORKING, 'Sun.'), moves(WORKING, 'Wind.'), moves(COMPLETED)], 'Sun.\n\nWind.'],
    ['nothing', [moves(COMPLETED)], ''],
  ])('without artifacts answers with %s', (_what, pieces, words) => {
    expect(seen(task(SUBMITTED), ...pieces).outcome).toMatchObject({ kind: 'answer', text: words });
  });

  it('may answer with a message and no task', () => {
    const said = seen({ payload: { $case: 'message', value: message('Hello.') } });
    expect(said).toMatchObject({ outcome: { kind: 'answer', text: 'Hello.', context: 'c' }, task: undefined });
  });

  it.each([
    [TaskState.TASK_STATE_INPUT_REQUIRED, { kind: 'asks', needs: 'input', question: 'Why?' }],
    [TaskState.TASK_STATE_AUTH_REQUIRED, { kind: 'asks', needs: 'auth', question: 'Why?' }],
    [TaskState.TASK_STATE_FAILED, { kind: 'ended', state: 'failed', message: 'Why?' }],
    [TaskState.TASK_STATE_REJECTED, { kind: 'ended', state: 'rejected', message: 'Why?' }],
    [TaskState.TASK_STATE_CANCELED, { kind: 'ended', state: 'canceled', message: 'Why?' }],
  ])('state %s is what it is', (state, outcome) => {
    expect(seen(task(SUBMITTED), moves(state, 'Why?')).outcome).toMatchObject(outcome);
  });

  it('is at work in a state that nobody knows', () => {
    expect(seen(task(SUBMITTED), moves(TaskState.UNRECOGNIZED)).outcome).toBeUndefined();
  });

  it('tells of files and addresses, and fetches nothing', () => {
    const file: Part = { ...text(''), content: { $case: 'raw', value: Buffer.from('abc') }, filename: 'a.bin', mediaType: 'x/y' };
    const link: Part = { ...text(''), content: { $case: 'url', value: 'http://127.0.0.1/secret' }, filename: 'b' };
    const data: Part = { ...text(''), content: { $case: 'data', value: { city: 'Porto' } } };
    const { outcome } = seen(task(COMPLETED, undefined, [artifact('f', file), artifact('l', link), artifact('d', data)]));
    expect(outcome).toMatchObject({
      text: '\n[file a.bin, x/y, 3 bytes]\n\n\n\n[file b at http://127.0.0.1/secret]\n\n\n{"city":"Porto"}',
      artifacts: [
        { id: 'f', name: 'a.bin', content: '\n[file a.bin, x/y, 3 bytes]\n', bytes: 3 },
        { id: 'l' },
        { id: 'd', content: '{"city":"Porto"}' },
      ],
    });
  });

  const file = (value: Uint8Array, filename = ''): Part => ({
    ...text(''),
    content: { $case: 'raw', value: Buffer.from(value) },
    filename,
  });
  const filesOf = (outcome: ReturnType<typeof seen>['outcome']) =>
    outcome !== undefined && 'files' in outcome ? outcome.files : [];

  it('gives files as bytes, wherever they stand, and each with what stands for it in the words', () => {
    const bytes = Buffer.from('abc');
    const made = artifact('f', text('Look: '), file(bytes, 'a.bin'), file(bytes));
    const ended = { ...moves(COMPLETED, 'Here.') };
    const { outcome } = seen(task(SUBMITTED), makes(made), ended);
    expect(filesOf(outcome)).toEqual([
      { artifact: 'f', name: 'a.bin', bytes: 3, content: bytes, words: '[file a.bin, of unknown type, 3 bytes]' },
      { artifact: 'f', name: 'f', bytes: 3, content: bytes, words: '[file without a name, of unknown type, 3 bytes]' },
    ]);
    const reply = seen({ payload: { $case: 'message', value: { ...message('Here.'), parts: [file(bytes, 'b.bin')] } } });
    expect(filesOf(reply.outcome)).toMatchObject([{ name: 'b.bin', content: bytes }]);
    expect(filesOf(reply.outcome)[0]).not.toHaveProperty('artifact');
  });

  it('gives no more files than are kept, and none that is too large, and says so', () => {
    const large = Buffer.alloc(limits.peerFileBytes + 1);
    const many = Array.from({ length: limits.a2aParts }, () => file(Buffer.from('x')));
    const { outcome } = seen(task(COMPLETED, undefined, [artifact('l', file(large, 'l')), artifact('m', ...many)]));
    expect(outcome).toMatchObject({ leftOut: true, cut: true });
    expect(filesOf(outcome)).toHaveLength(limits.peerFiles);
    expect(filesOf(outcome)[0]).toMatchObject({ name: 'l', bytes: large.length, content: undefined });
  });

  it('is not heard about tasks of others', () => {
    const other = seen(task(SUBMITTED), moves(COMPLETED, 'Not mine.', 'other'), makes(artifact('a', text('x')), false, 'other'));
    expect(other.outcome).toBeUndefined();
  });

  it.each([
    ['usage', { inputTokens: 3, outputTokens: 4 }],
    ['usage_metadata', { promptTokenCount: 3, candidatesTokenCount: 4 }],
  ])('counts what it says under %s', (key, said) => {
    expect(seen(task(COMPLETED, 'x', [], { [key]: said })).outcome).toMatchObject({ usage: { inputTokens: 3, outputTokens: 4 } });
    expect(seen(task(COMPLETED, 'x', [], { [key]: { inputTokens: 'many' } })).outcome).toMatchObject({ usage: {} });
  });

  it.each([
    [{ costUsd: 0.25 }, 250_000_000],
    [{ usage: { total_cost_usd: 0.25 } }, 250_000_000],
    [{ usage: { inputTokens: 3 }, cost: { amount: 1, currency: 'usd' } }, 1_000_000_000],
    [{ cost_usd: 0 }, 0],
    // Whose money it is, is not said; or it cannot be true.
    [{ cost: 0.25 }, undefined],
    [{ cost: { amount: 1, currency: 'EUR' } }, undefined],
    [{ costUsd: -1 }, undefined],
    [{ costUsd: '1' }, undefined],
    [{ costUsd: 1e300 }, undefined],
    [{}, undefined],
  ])('costs what it says in dollars: %j', (said, nanoUsd) => {
    const { outcome } = seen(task(COMPLETED, 'x', [], said));
    expect(outcome !== undefined && 'nanoUsd' in outcome ? outcome.nanoUsd : undefined).toBe(nanoUsd);
  });

  it('is cut where it is too much', () => {
    const long = 'ä'.repeat(limits.peerAnswerBytes);
    const { outcome } = seen(task(COMPLETED, undefined, [artifact('a', text(long))]));
    expect(outcome).toMatchObject({ kind: 'answer', cut: true, artifacts: [{ cut: true, bytes: 2 * limits.peerAnswerBytes }] });
    if (outcome?.kind === 'answer') expect(Buffer.byteLength(outcome.text)).toBeLessThanOrEqual(limits.peerAnswerBytes);
    const many = Array.from({ length: limits.peerArtifacts + 5 }, (_, index) => artifact(`a${index}`, text('x')));
    expect(seen(task(COMPLETED, undefined, many)).outcome).toMatchObject({
      ...{ kind: 'answer', cut: true, leftOut: true },
      artifacts: { length: limits.peerArtifacts },
    });
    const all = seen(task(COMPLETED, undefined, many.slice(5))).outcome;
    expect(all).toMatchObject({ cut: false, artifacts: { length: limits.peerArtifacts } });
    expect(all).not.toHaveProperty('leftOut');
    const asks = seen(task(TaskState.TASK_STATE_INPUT_REQUIRED, 'w'.repeat(100_000))).outcome;
    if (asks?.kind === 'asks') expect(asks.question.length).toBe(limits.peerQuestionCharacters);
    const id = seen({
      payload: {
        $case: 'statusUpdate',
        value: { taskId: 'x'.repeat(10_000), contextId: '', status: status(COMPLETED), metadata: undefined },
      },
    });
    expect(id).toMatchObject({ task: undefined, outcome: undefined });
  });
});
