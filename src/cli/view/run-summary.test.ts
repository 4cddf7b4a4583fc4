import picocolors from 'picocolors';
import { expect, it } from 'vitest';
import { answered, eventList, ROOT, started, startedAt } from '../../../test/support/event-list.ts';
import { shortId } from '../../base/ids.ts';
import { afterFailure } from '../../front/after-failure.ts';
import { summarise } from '../../front/summary.ts';
import { foldRunTree, initialRunTree } from '../../projections/run-tree.ts';
import { factLines, summaryLines } from './run-summary.ts';
import { treeLines } from './tree-lines.ts';

const paint = picocolors.createColors(false);
const ID = shortId(ROOT);

function linesAfter(change: (list: ReturnType<typeof eventList>) => void, ends = true): string {
  const list = eventList();
  started(list, 'writer');
  list.add('model.request', { turn: 1, model: 'test/model', added: [] });
  change(list);
  const report = { format: 'text', body: 'So far' } as const;
  if (ends && list.events.at(-1)?.event_type !== 'run.parked')
    list.add('run.ended', { status: 'completed', report, finalAgent: 'writer', turns: 1, verification: { state: 'unchecked' } });
  const tree = list.events.reduce(foldRunTree, initialRunTree());
  const node = tree.runs.get(ROOT);
  if (node === undefined) throw new Error('the run is not there');
  return summaryLines(summarise(tree, node, { session: 's', ledger: 'l', now: startedAt(9) }), { paint, call: 'troupe' }).join(
    '\n',
  );
}

it('says of a call in the middle of which its run was left that what it cost is not known', () => {
  const lines = (width: number): readonly string[] => {
    const list = eventList();
    started(list, 'writer');
    list.add('model.request', { turn: 1, model: 'test/model', added: [] });
    answered(list, 1, { tokens: [1_200, 80], nanoUsd: 1_300_000 });
    list.add('model.request', { turn: 2, model: 'test/model', added: [] });
    const error = { kind: 'cancelled', message: 'left' } as const;
    list.add('model.failed', { turn: 2, model: 'test/model', attempt: 1, error, final: true, inDoubt: true });
    const tree = list.events.reduce(foldRunTree, initialRunTree());
    const node = tree.runs.get(ROOT);
    if (node === undefined) throw new Error('the run is not there');
    const summary = summarise(tree, node, { session: 's', ledger: 'l', now: startedAt(9) });
    const [first = ''] = treeLines(tree, ROOT, { now: startedAt(9), width, paint, calls: 0 });
    return [first, ...summaryLines(summary, { paint, call: 'troupe', width })];
  };
  expect(lines(44)[0]).toMatch(/\$0\.0013\+\?/);
  expect(lines(200)[0]).toContain('$0.0013 + unknown (1 call)');
  for (const width of [60, 200]) expect(lines(width).slice(1).join('\n')).toContain('$0.0013 + unknown (1 call)');
});

it('says that an answer was cut, and what was not reported', () => {
  const answer = (finish: 'stop' | 'length', usage: { inputTokens?: number }) =>
    linesAfter((list) =>
      list.add('model.response', {
        ...{ turn: 1, finish, usage, requested: 'test/model', served: 'test/model', attempts: 1, durationMs: 1 },
        message: { role: 'assistant', content: [{ type: 'text', text: 'So far' }] },
      }),
    );
  expect(answer('length', {})).toContain('limit of one answer was reached (maxOutputTokens)');
  expect(answer('length', {})).toContain('tokens not reported');
  expect(answer('stop', { inputTokens: 5 })).not.toContain('maxOutputTokens');
  expect(answer('stop', { inputTokens: 5 })).toContain('5+? tokens (5 in, unknown out)');
  expect(linesAfter((list) => answered(list, 1))).not.toContain('not reported');
});

it('says of a run that no model has answered yet that it has no answer, and names what works while somebody works on it', () => {
  const text = linesAfter(() => undefined, false);
  expect(text).toContain('running · 1 turn · no answer · $0');
  expect(text).toContain(`next    troupe attach ${ID}\n        troupe logs -f ${ID}`);
  expect(text).not.toContain('resume');
});

it('names the limit that cut what came from an agent elsewhere', () => {
  const cut = (more: { readonly leftOut?: true }) =>
    linesAfter((list) => {
      list.add('peer.state', { state: 'completed', task: 't', context: 'c', ...more });
      list.add('model.response', {
        ...{ turn: 1, finish: 'length', usage: {}, requested: 'a2a:far', served: 'a2a:far', attempts: 1, durationMs: 1 },
        message: { role: 'assistant', content: [{ type: 'text', text: 'So far' }] },
      });
    });
  expect(cut({})).toContain('limit of one answer was reached (peerAnswerBytes)');
  expect(cut({ leftOut: true })).toContain(
    'some of what was made is missing: it is more than is kept of one answer (peerArtifacts)',
  );
  expect(cut({})).not.toContain('maxOutputTokens');
});

const ALL = { code: 'all_workers_failed', message: 'Every worker failed.' };

it.each([
  ['a provider that is down', { code: 'model_network', message: 'nobody answers' }, 'resume abc123'],
  ['a model that refuses', { code: 'model_invalid_request', message: 'no such model' }, 'resume abc123 --model "…"'],
  ['a conversation that does not fit', { code: 'model_context_overflow', message: 'too long' }, 'resume abc123 --model "…"'],
  ['workers that failed themselves', ALL, 'retry abc123'],
  ['workers that failed for want of a provider', { ...ALL, fix: 'Go on: troupe resume abc123' }, 'resume abc123'],
])('names the command that takes it further: %s', (_what, error, command) => {
  expect(afterFailure('abc123', 'failed', error)).toBe(command);
});

it.each([
  ['model_network', [`resume ${ID}`, `resume ${ID} --model "…"`, `show ${ID}`]],
  ['model_auth', [`resume ${ID}`, `resume ${ID} --model "…"`, `show ${ID}`]],
  ['peer_network', [`resume ${ID}`, `show ${ID}`]],
])('names another model as a way on where that may help: parked for %s', (code, expected) => {
  const text = linesAfter((list) =>
    list.add('run.parked', { reason: 'provider', error: { code, message: 'not now', fix: 'Wait.' } }),
  );
  const next = text.slice(text.indexOf('next')).split('\n');
  expect(next.map((line) => line.replace(/^next/, '').trim())).toEqual(expected.map((words) => `troupe ${words}`));
});

const MEMBER = 'run_member' as typeof ROOT;
const AGAIN = 'run_again1' as typeof ROOT;

const ended = {
  report: { format: 'text', body: 'So far' },
  finalAgent: 'ana',
  turns: 1,
  verification: { state: 'unchecked' },
} as const;
const down = { ...ended, status: 'failed', error: { code: 'model_network', message: 'nobody answers' } } as const;

/** A group whose worker failed, what came of asking it again, and whether the first went on after that. */
function groupWithout(
  again: 'completed' | 'failed' | undefined,
  status: 'completed' | 'failed' = 'completed',
  wentOn = false,
): string {
  const list = eventList();
  const worker = { origin: { kind: 'pattern', parent: ROOT, role: 'worker' }, depth: 1 } as const;
  started(list, 'group');
  started(list, 'ana', worker, { run: MEMBER });
  list.add('run.ended', down, { run: MEMBER });
  if (again !== undefined) {
    started(list, 'ana', worker, { run: AGAIN });
    list.add('run.ended', again === 'failed' ? down : { ...ended, status: again }, { run: AGAIN });
  }
  if (wentOn) {
    list.add('run.reopened', { undone: [] }, { run: MEMBER });
    list.add('run.ended', { ...ended, status: 'completed' }, { run: MEMBER });
  }
  list.add('run.ended', { ...ended, status, finalAgent: 'group' });
  const tree = list.events.reduce(foldRunTree, initialRunTree());
  const node = tree.runs.get(ROOT);
  if (node === undefined) throw new Error('the run is not there');
  const summary = summarise(tree, node, { session: 's', ledger: 'l', now: startedAt(9) });
  return summaryLines(summary, { paint, call: 'troupe' }).join('\n');
}

it('names what can be applied, and no command that repeats the work of an executor: its architect says what became of it', () => {
  const list = eventList();
  const terms = {
    ...{ task: 'task-1', include: [], exclude: [], noTouch: [], mode: 'full' as const, package: 'p' },
    ...{ limits: { maxCliCalls: 1, maxDurationMs: 1, maxMemoryMb: 1 }, place: { kind: 'in-place' as const, path: '/w' } },
  };
  started(list, 'lead');
  const origin = { kind: 'task', parent: ROOT, role: 'executor', reason: 'Add a page', terms } as const;
  started(list, 'executor:codex', { origin, depth: 1 }, { run: MEMBER });
  list.add('run.ended', down, { run: MEMBER });
  list.add('task.merged', { tasks: ['task-2'], files: 3, conflicts: [] });
  list.add('run.ended', { ...ended, status: 'completed', finalAgent: 'lead' });
  const tree = list.events.reduce(foldRunTree, initialRunTree());
  const node = tree.runs.get(ROOT);
  if (node === undefined) throw new Error('the run is not there');
  const summary = summarise(tree, node, { session: 's', ledger: 'l', now: startedAt(9) });
  const lines = summaryLines(summary, { paint, call: 'troupe' }).join('\n');
  expect(lines).not.toMatch(/missing|retry/);
  expect(lines).toMatch(/next +troupe apply \w+ --dry-run/);
  expect(summary.toApply).toEqual({ files: 3 });
  const [, below = ''] = treeLines(tree, ROOT, { now: startedAt(9), width: 120, paint });
  expect(below).toMatch(/codex \(executor\) .*“Add a page”$/);
});

it('says whose work is missing in an answer, with the command that does it again', () => {
  const without = groupWithout(undefined);
  expect(without).toContain('missing ana (worker) failed: nobody answers');
  expect(without).toContain('troupe retry member');
  expect(groupWithout(undefined, 'failed')).not.toContain('missing');
  expect(groupWithout('completed')).not.toContain('missing');
  expect(groupWithout('failed', 'completed', true)).not.toContain('missing');
  // Of several attempts the last says it for all.
  const twice = groupWithout('failed');
  expect(twice.split('missing')).toHaveLength(2);
  expect(twice).toContain('troupe retry again1');
});

it('advises nobody to choose again where somebody else has answered instead', () => {
  const list = eventList();
  started(list, 'house');
  started(list, 'house', { origin: { kind: 'loop', parent: ROOT, role: 'chooser', as: 'chooser' }, depth: 1 }, { run: MEMBER });
  list.add('run.ended', down, { run: MEMBER });
  list.add('run.ended', { ...ended, status: 'completed', finalAgent: 'general' });
  const tree = list.events.reduce(foldRunTree, initialRunTree());
  const node = tree.runs.get(ROOT);
  if (node === undefined) throw new Error('the run is not there');
  const summary = summarise(tree, node, { session: 's', ledger: 'l', now: startedAt(9) });
  const lines = summaryLines(summary, { paint, call: 'troupe' }).join('\n');
  expect(lines).not.toMatch(/missing|retry/);
  expect(lines).toMatch(/why +nobody could be chosen, and somebody else answered: nobody answers/);
});

it('breaks a row of facts between them, never within one', () => {
  const facts = ['cancelled', '2 turns', '5.3s', '$0.0004', 'chat $0.0004 of $0.05'];
  expect(factLines(facts, paint, 30)).toEqual(['cancelled · 2 turns · 5.3s', '  $0.0004', '  chat $0.0004 of $0.05']);
});
