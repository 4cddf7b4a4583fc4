/** What a task says of a run, event by event. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answered, anyEvents, type EventList, eventList, ROOT, SESSION, started } from '../../../test/support/event-list.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { userText } from '../../events/messages.ts';
import { taskContext } from './task-context.ts';
import { readTask, writeTask } from './task-json.ts';
import { isTerminalTask, mayFollow, taskStates, taskTransitions } from './task-states.ts';
import { foldTasks, initialTasks, type RootTask, taskOfRun } from './tasks.ts';

const CHILD = 'run_child1' as RunId;

const tasksOf = (events: readonly LedgerEvent[]) => events.reduce(foldTasks, initialTasks());

function taskOf(list: EventList): RootTask {
  const task = taskOfRun(tasksOf(list.events), ROOT);
  if (task === undefined) throw new Error('There is no task');
  return task;
}

/** The states of the root's first task, one for each event. */
const statesOf = ({ events }: EventList): readonly (string | undefined)[] =>
  events.map((_event, index) => tasksOf(events.slice(0, index + 1)).tasks.get(ROOT)?.state);

function ended(list: EventList, more: Partial<Payloads['run.ended']> = {}, run = ROOT): void {
  const report = { format: 'text', body: 'The lights are on.' } as const;
  list.add(
    'run.ended',
    { status: 'completed', report, finalAgent: 'light', verification: { state: 'unchecked' }, ...more },
    { run },
  );
}

function submitted(): EventList {
  const list = eventList();
  list.add('session.started', { workspace: '/w' });
  started(list, 'house', { input: userText('Turn on the kitchen lights') });
  list.add('session.config', { agent: 'house', definition: {}, system: '', tools: [] });
  return list;
}

const failure = { code: 'model_auth', message: 'The key was refused', fix: 'Set another.' };

describe('a task', () => {
  it('is submitted, works, asks, works and is completed', () => {
    const list = submitted();
    list.add('model.request', { turn: 1, model: 'm', added: [] });
    list.add('task.clarify', { wait: 'w1', question: 'Which lights?' });
    list.add('approval.answered', { wait: 'w1', answer: { kind: 'text', text: 'All' } });
    ended(list);
    expect(statesOf(list)).toEqual([
      undefined,
      ...['submitted', 'submitted', 'working', 'input-required', 'working', 'completed'],
    ]);
    const task = taskContext(taskOf(list));
    expect(task).toMatchObject({ id: ROOT, sessionId: SESSION, status: { state: 'completed' } });
    expect(task.status.message).toEqual({ role: 'assistant', content: 'The lights are on.' });
    expect(task.history?.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: Turn on the kitchen lights',
      'assistant: Which lights?',
      'user: All',
      'assistant: The lights are on.',
    ]);
    expect(task.artifacts?.[0]).toMatchObject({ artifactId: 'result', parts: [{ kind: 'text', text: 'The lights are on.' }] });
    expect(readTask(writeTask(task))).toEqual({ ok: true, value: task });
    expect(writeTask(task)).toMatch(/"ledgerPosition":7\}\}$/);
  });

  it('waits for whoever below it asks, until that run has its answer or its end', () => {
    const list = submitted();
    started(list, 'light', { origin: { kind: 'call', parent: ROOT } }, { run: CHILD });
    list.add('approval.asked', { wait: 'w', tool: 'shell', input: { command: 'ls' }, why: 'to look' }, { run: CHILD });
    expect(taskOf(list)).toMatchObject({ state: 'input-required', waits: [{ run: CHILD, wait: 'w' }] });
    expect(taskOf(list).message?.content).toContain('ls');
    ended(list, {}, CHILD);
    expect(taskOf(list)).toMatchObject({ state: 'working', waits: [] });
  });

  it('needs somebody while it is parked or paused, and works when it is taken up', () => {
    const list = submitted();
    list.add('run.parked', { reason: 'key', error: failure });
    expect(taskOf(list)).toMatchObject({ state: 'input-required', still: { kind: 'parked', reason: 'key' } });
    expect(taskOf(list).message?.content).toBe('The key was refused. Set another.');
    expect(taskContext(taskOf(list)).metadata).toMatchObject({ reason: 'key', error: failure });
    list.add('run.resumed', { owner: 'me', takenOver: false });
    expect(taskOf(list)).toMatchObject({ state: 'working', still: undefined });
    list.add('run.paused', { reason: 'lunch' });
    expect(taskOf(list).message?.content).toBe('Paused: lunch');
  });

  it.each([
    ['completed_unverified', 'completed'],
    ['failed', 'failed'],
    ['budget_exhausted', 'failed'],
    ['cancelled', 'canceled'],
  ] as const)('whose run ended %s is %s', (status, state) => {
    const list = submitted();
    ended(list, { status, ...(status === 'failed' ? { error: failure } : {}) });
    expect(taskOf(list).state).toBe(state);
    if (status === 'failed') expect(taskOf(list).message?.content).toBe('The key was refused');
  });

  it.each(['all_agents_failed', 'no_fallback'])(
    'that failed with words of its own (%s) says those, and not what is inside',
    (code) => {
      const list = submitted();
      const error = { code, message: 'Light Agent (timed out after 2s (dispatch.timeout))' };
      ended(list, { status: 'failed', report: { format: 'text', body: 'Please try again.' }, error });
      const { status, history, metadata } = taskContext(taskOf(list));
      expect(status).toMatchObject({ state: 'failed', message: { role: 'assistant', content: 'Please try again.' } });
      expect(history?.at(-1)).toMatchObject({ role: 'assistant', content: 'Please try again.' });
      expect(metadata).toMatchObject({ error });
    },
  );

  it('stays as it ended when its run goes on, which is another task', () => {
    const list = submitted();
    list.add('router.chose', { agent: 'light' });
    ended(list, { status: 'failed', error: failure, reason: 'key' });
    list.add('run.reopened', { undone: [5] });
    const before = tasksOf(list.events);
    expect(before.tasks.get(ROOT)).toMatchObject({ state: 'failed', reopenedAs: `${ROOT}.2`, end: { reason: 'key' } });
    expect(taskOf(list)).toMatchObject({ id: `${ROOT}.2`, run: ROOT, state: 'submitted', reopens: ROOT, end: undefined });
    list.add('run.resumed', { owner: 'me', takenOver: false });
    ended(list);
    expect(tasksOf(list.events).tasks.get(ROOT)).toEqual(before.tasks.get(ROOT));
    const task = taskContext(taskOf(list));
    expect(task).toMatchObject({ status: { state: 'completed' }, metadata: { reopens: ROOT, agentSelections: ['light'] } });
    expect(task.history?.map(({ content }) => content)).toEqual(['Turn on the kitchen lights', 'The lights are on.']);
  });

  it('that ended is as it ended, whatever follows, until its own run goes on', () => {
    const list = submitted();
    started(list, 'light', { origin: { kind: 'call', parent: ROOT } }, { run: CHILD });
    list.add('task.clarify', { wait: 'w1', question: 'Which lights?' }, { run: CHILD });
    ended(list, { status: 'failed', error: failure, reason: 'key' });
    const before = taskOf(list);
    expect(before).toMatchObject({ state: 'failed', waits: [] });
    list.add('artifact.manifest', { items: [{ path: 'a.txt', sha256: 'aa' }] });
    list.add('task.clarify', { wait: 'w2', question: 'Which room?' }, { run: CHILD });
    list.add('run.reopened', { undone: [] }, { run: CHILD });
    expect([...tasksOf(list.events).tasks.values()]).toEqual([before]);
    list.add('run.reopened', { undone: [] });
    list.add('model.request', { turn: 1, model: 'm', added: [] });
    expect(taskOf(list)).toMatchObject({ id: `${ROOT}.2`, state: 'working', waits: [], files: [] });
    list.add('task.clarify', { wait: 'w3', question: 'How bright?' });
    expect(taskOf(list).waits).toMatchObject([{ wait: 'w3' }]);
  });

  it('is submitted until somebody works on it, and speaks for its own run alone', () => {
    const list = submitted();
    const parties = { from: { assistant: 'ann' }, to: { assistant: 'house', run: ROOT } };
    list.add('message.sent', { message: 'm1', thread: 't', fence: 'f', ...parties, content: 'Hurry' });
    expect(taskOf(list).state).toBe('submitted');
    started(list, 'light', { origin: { kind: 'call', parent: ROOT } }, { run: CHILD });
    list.add('run.parked', { reason: 'key', error: failure }, { run: CHILD });
    list.add('run.paused', { reason: 'lunch' }, { run: CHILD });
    const message: Payloads['model.response']['message'] = {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool-call', id: 'c', name: 'list', input: {} },
      ],
    };
    const facts = { finish: 'tool-calls', usage: {}, requested: 'm', served: 'm', attempts: 1, durationMs: 1 } as const;
    list.add('model.response', { turn: 1, message, ...facts }, { run: CHILD });
    expect(taskOf(list)).toMatchObject({ state: 'working', message: undefined, still: undefined });
    expect(taskOf(list).history.map(({ content }) => content)).toEqual(['Turn on the kitchen lights', 'Hurry']);
  });

  it('has so many files and answers and no more, the last of them', () => {
    const list = submitted();
    const items = Array.from({ length: limits.taskFiles + 2 }, (_item, index) => ({ path: `${index}`, sha256: 'aa' }));
    list.add('artifact.manifest', { items });
    const worked = { attempts: 1, status: 'completed', verification: { state: 'unchecked' }, executionTimeMs: 1 } as const;
    for (let index = 0; index <= limits.taskSelections; index += 1)
      list.add('dispatch.responded', { agentId: `a${index}`, content: '', success: true, errorMessage: null, ...worked });
    const { files, filesLeftOut, agentResponses } = taskOf(list);
    expect([files.length, files[0]?.path, filesLeftOut]).toEqual([limits.taskFiles, '2', 2]);
    expect([agentResponses.length, agentResponses[0]?.agentId]).toEqual([limits.taskSelections, 'a1']);
  });

  it('says what its agent says on the way, and what goes between it and a client', () => {
    const list = submitted();
    list.add('model.response', {
      turn: 1,
      message: {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look for switches.' },
          { type: 'tool-call', id: 'c', name: 'list', input: {} },
        ],
      },
      ...{ finish: 'tool-calls', usage: {}, requested: 'm', served: 'm', attempts: 1, durationMs: 1 },
    });
    expect(taskContext(taskOf(list)).status.message).toEqual({ role: 'assistant', content: 'I look for switches.' });
    const note = { message: 'm1', thread: 't', fence: 'f' };
    list.add('message.sent', { ...note, from: { assistant: 'ann' }, to: { assistant: 'house', run: ROOT }, content: 'Hurry' });
    list.add('message.sent', { ...note, from: { assistant: 'house', run: ROOT }, to: { assistant: 'ann' }, content: 'Yes' });
    list.add('message.sent', {
      ...note,
      from: { assistant: 'light', run: CHILD },
      to: { assistant: 'house', run: ROOT },
      content: 'Hm',
    });
    answered(list, 2, { text: 'The lights are on.' });
    ended(list);
    expect(taskOf(list).history.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: Turn on the kitchen lights',
      'assistant: I look for switches.',
      'user: Hurry',
      'assistant: Yes',
      'assistant: The lights are on.',
    ]);
  });

  it('shows the last of a long history, cuts long words, and says so', () => {
    const list = submitted();
    for (let index = 0; index < 100; index += 1) {
      list.add('task.clarify', { wait: `w${index}`, question: `Question ${index}?` });
      list.add('approval.answered', { wait: `w${index}`, answer: { kind: 'text', text: `Answer ${index}` } });
    }
    const task = taskOf(list);
    expect(task.history).toHaveLength(limits.taskHistory);
    expect(task.history.at(-1)?.content).toBe('Answer 99');
    expect(taskContext(task).metadata).toMatchObject({ historyLeftOut: 201 - limits.taskHistory });
    ended(list, { report: { format: 'text', body: 'x'.repeat(3_000_000) } });
    expect(writeTask(taskContext(taskOf(list))).length).toBeLessThan(1_300_000);
    expect(taskOf(list).message?.content).toContain('(2936000 more characters left out: taskMessageCharacters)');
  });

  it('says whom a dispatch chose, how sure it was, and what came of each', () => {
    const list = submitted();
    const choice = {
      ...{ agentId: 'light-agent', confidence: 0.88, reasoning: 'Both.', additionalAgents: ['music-agent'] },
      agentInstructions: [{ agentId: 'music-agent', instruction: 'Play jazz.' }],
    };
    list.add('dispatch.chose', { ...choice, decision: 'route', round: 1, attempts: 1 });
    const worked = { attempts: 1, status: 'completed', verification: { state: 'unchecked' } } as const;
    const light = { agentId: 'light-agent', content: 'On.', success: true, executionTimeMs: 1250 };
    const music = { agentId: 'music-agent', content: '', success: false, errorMessage: 'HTTP 503', executionTimeMs: 5000 };
    const asked = { agentId: 'light-agent', content: 'Which room?', success: true, errorMessage: null, needsInput: true };
    list.add('dispatch.responded', { ...worked, ...asked, executionTimeMs: 250 });
    list.add('dispatch.responded', { ...worked, ...music, status: 'failed' });
    // Its question was answered: what it says then is its response, and both times were its own.
    list.add('dispatch.responded', { ...worked, ...light, executionTimeMs: 1000, errorMessage: null });
    const { metadata } = taskContext(taskOf(list));
    expect(metadata).toMatchObject({
      ...{ agentSelections: ['light-agent', 'music-agent'], routingConfidence: 0.88, routing: choice },
      agentResponses: [light, music],
    });
    expect(JSON.stringify(metadata)).not.toContain('null');
    ended(list, { status: 'failed', error: failure, reason: 'key' });
    list.add('run.reopened', { undone: [] });
    expect(taskOf(list)).toMatchObject({ routing: choice, agentResponses: [light] });
  });

  it('names the files that were left, the latest of each', () => {
    const list = submitted();
    list.add('artifact.manifest', {
      items: [
        { path: 'a.txt', sha256: 'aa' },
        { path: 'b.txt', sha256: 'bb' },
      ],
    });
    list.add('artifact.manifest', { items: [{ path: 'a.txt', sha256: null }] });
    expect(taskContext(taskOf(list)).artifacts).toEqual([
      {
        ...{ artifactId: 'file:a.txt', name: 'a.txt', parts: [{ kind: 'file', file: { name: 'a.txt' } }] },
        metadata: { run: ROOT, removed: true },
      },
      {
        ...{ artifactId: 'file:b.txt', name: 'b.txt', parts: [{ kind: 'file', file: { name: 'b.txt' } }] },
        metadata: { run: ROOT, sha256: 'bb' },
      },
    ]);
  });
});

describe('transitions', () => {
  it('lead from each open state to each end and from no end anywhere', () => {
    const ends = taskStates.filter(isTerminalTask);
    expect(ends).toEqual(['completed', 'canceled', 'failed']);
    for (const [from, to] of Object.entries(taskTransitions)) {
      if (to.length > 0) expect(to, from).toEqual(expect.arrayContaining([...ends]));
      expect(to).not.toContain('unknown');
    }
  });

  it('are legal in every prefix of any session, and each change has a larger position', () => {
    let seen = 0;
    fc.assert(
      fc.property(anyEvents, (any) => {
        // Most random sessions begin their root run late: these do at once.
        const list = eventList();
        started(list, 'agent-0', {}, { run: 'run_any0' as RunId });
        const events = [...list.events, ...any.map((event) => ({ ...event, position: event.position + 1 }))];
        const tasks = initialTasks();
        let before = new Map(tasks.tasks);
        for (const event of events) {
          foldTasks(tasks, event);
          for (const [id, task] of tasks.tasks) {
            const old = before.get(id);
            if (old === undefined || old === task) continue;
            seen += 1;
            expect(mayFollow(old.state, task.state), `${old.state} to ${task.state}`).toBe(true);
            expect(task.position).toBe(event.position);
            expect(old.position).toBeLessThan(task.position);
          }
          before = new Map(tasks.tasks);
        }
        for (const task of tasks.tasks.values()) {
          expect(readTask(writeTask(taskContext(task)))).toEqual({ ok: true, value: taskContext(task) });
        }
      }),
      { numRuns: 400 },
    );
    expect(seen).toBeGreaterThan(100);
  });
});
