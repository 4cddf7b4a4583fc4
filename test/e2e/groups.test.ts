/** Groups that last, as people use them: real processes, real git, a scripted model. Numbers are those of known regressions. */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { type Json, parseJson } from '../../src/base/json.ts';
import { gate, groupProject as project, quick, REPLIES, run, shown } from './support-groups.ts';
import { objectIn, type TestProject } from './support-project.ts';

async function names(at: TestProject): Promise<readonly string[]> {
  const { groups } = objectIn(await run(at, 'groups', 'list', '--json')) as { groups: readonly { name: string }[] };
  return groups.map((group) => group.name);
}

function git(folder: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.org'];
  return execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe('talking to a group', () => {
  it('keeps the conversations of its members between prompts, and takes a word for one of them', async () => {
    await using at = await project();
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel');
    expect(await run(at, 'groups', 'send', 'crew', 'Begin.')).toContain('one');
    expect(await run(at, 'groups', 'send', 'crew', 'Go on.')).toContain('two');
    expect(await run(at, 'groups', 'send', 'crew', '--member', 'coder', 'And you?')).toBe('three\n');
    const { code, err } = await quick(at, 'groups', 'send', 'crew', '--member', 'nobody', 'Hi');
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('The workers are: coder') });
  });

  it('outlives the files that it was made from', async () => {
    await using at = await project();
    await run(at, 'groups', 'create', 'crew', '--agent', 'desk');
    for (const name of ['desk', 'coder', 'tester']) await at.write(`agents/${name}.md`, '---\nname: other\n---\nGone.\n');
    expect(await run(at, 'groups', 'send', 'crew', 'Do it.')).toBe('All together.\n');
  });

  it('regressions 26, 27, 29: a second prompt waits visibly, with its own text, and is taken up by whoever drives', async () => {
    await using at = await project();
    const model = await gate(at);
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel');
    const first = at.start(['groups', 'send', 'crew', 'a slow one']);
    await model.reached;
    const queued = objectIn(await run(at, 'groups', 'send', 'crew', 'the second', '--json'));
    expect(queued).toMatchObject({ queued: true, before: 1, live: true });
    expect(await run(at, 'groups', 'send', 'crew', 'the third')).toContain('queued: crew is busy, 2 before this one');
    expect(await shown(at, 'crew')).toMatchObject({ state: 'running', queue: [{ text: 'the second' }, { text: 'the third' }] });
    expect((await run(at, 'groups', 'show', 'crew')).match(/waits: the (second|third)/g)).toHaveLength(2);
    model.open();
    const ended = await first.ended;
    expect(ended).toMatchObject({ code: 0, out: '### coder\n\nslowly\n' });
    const after = await shown(at, 'crew');
    expect(after).toMatchObject({ state: 'idle', queue: [] });
    expect(after.runs.map((row) => row['state'])).toEqual(['completed', 'completed', 'completed']);
    expect(after.runs[1]?.['run']).toBe(queued['prompt']);
    expect(await run(at, 'show', String(queued['prompt']))).toContain('answer to second');
    expect(await run(at, 'ledger', 'verify')).toMatch(/^sound/);
  });

  it('regression 29: prompts that a killed process left are answered before a new one, or on resume', async () => {
    await using at = await project();
    const model = await gate(at);
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel');
    const first = at.start(['groups', 'send', 'crew', 'a slow one']);
    await model.reached;
    await run(at, 'groups', 'send', 'crew', 'the second');
    first.kill('SIGKILL');
    await first.ended;
    model.open();
    // It takes up what the killed one worked on, then what waited, then its own.
    expect(await run(at, 'groups', 'send', 'crew', 'the third')).toContain('answer to third');
    const after = await shown(at, 'crew');
    expect(after).toMatchObject({ state: 'idle', queue: [] });
    expect(after.runs).toHaveLength(3);
  });

  it('regression 28: there is no way in beside the queue', async () => {
    await using at = await project();
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel');
    await run(at, 'groups', 'send', 'crew', 'Begin.');
    const session = String((await shown(at, 'crew'))['session']);
    const { code, err } = await quick(at, 'run', 'coder', 'Hi', '--session', session);
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('groups send "crew"') });
  });

  it('pauses, resumes and stops from another process', async () => {
    await using at = await project();
    const model = await gate(at);
    await run(at, 'groups', 'create', 'crew', '--agent', 'desk');
    const driven = at.start(['groups', 'send', 'crew', 'a slow one']);
    await model.reached;
    expect(await run(at, 'groups', 'pause', 'crew')).toContain('asked crew to pause');
    model.open();
    expect((await driven.ended).code).toBe(130);
    expect(await shown(at, 'crew')).toMatchObject({ state: 'paused' });
    const waits = await quick(at, 'groups', 'send', 'crew', 'the second');
    expect(waits).toMatchObject({ code: 0, out: expect.stringContaining('crew is paused, 1 before this one') });
    expect(waits.err).toContain('groups resume "crew"');
    expect(await run(at, 'groups', 'resume', 'crew')).toContain('All together.');
    expect(await shown(at, 'crew')).toMatchObject({ state: 'idle', queue: [] });
    expect(await run(at, 'groups', 'stop', 'crew')).toContain('works on nothing');
  });

  it('stop ends what is under way, and drops what waits when told to', async () => {
    await using at = await project();
    const model = await gate(at);
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel');
    const driven = at.start(['groups', 'send', 'crew', 'a slow one']);
    await model.reached;
    await run(at, 'groups', 'send', 'crew', 'the second');
    expect(objectIn(await run(at, 'groups', 'stop', 'crew', '--all', '--json'))).toMatchObject({
      outcome: 'accepted',
      dropped: 1,
    });
    expect((await driven.ended).code).toBe(130);
    expect(await shown(at, 'crew')).toMatchObject({ state: 'idle', queue: [] });
  });
});

/** Others have their turn. */
const moment = (): Promise<false> => new Promise((resolve) => setImmediate(resolve, false));

describe('keeping groups with troupe groups', () => {
  it('regression 7: killed at any moment, a group is there whole or not at all, and what was said to be there is', async () => {
    await using at = await project();
    const kills = Array.from({ length: 6 }, async (_, index) => {
      const made = at.start(['groups', 'create', `crew-${index}`, '--agent', 'desk', '--json']);
      // One dies before the ledger is there, the others when more and more has been written to it.
      const written = (): number => statSync(join(at.folder, '.troupe/ledger.db-wal'), { throwIfNoEntry: false })?.size ?? 0;
      const over = made.ended.then(() => true);
      for (let isOver = false; !isOver && written() < index * 16_384; ) isOver = await Promise.race([over, moment()]);
      made.kill('SIGKILL');
      return (await made.ended).out.includes('"kind": "group"') ? [`crew-${index}`] : [];
    });
    const said = (await Promise.all(kills)).flat();
    const there = await names(at);
    expect(there).toEqual(expect.arrayContaining(said));
    for (const name of there) expect(((await shown(at, name))['members'] as readonly Json[]).length).toBe(3);
    await run(at, 'groups', 'create', 'last', '--agent', 'desk');
    expect(await run(at, 'ledger', 'verify')).toMatch(/^sound/);
  });

  it.each(['', 'PRAGMA journal_mode = WAL'])(
    'regression 7: a ledger whose maker was killed first is none yet (%s)',
    async (done) => {
      await using at = await project();
      await at.write('.troupe/ledger.db', '');
      const database = new DatabaseSync(join(at.folder, '.troupe/ledger.db'));
      if (done !== '') database.exec(done);
      database.close();
      expect(await names(at)).toEqual([]);
      expect(await quick(at, 'ps')).toMatchObject({ code: 0, out: '' });
      await run(at, 'groups', 'create', 'crew', '--agent', 'desk');
      expect(await names(at)).toEqual(['crew']);
    },
  );

  it('regression 8: a deleted group and its members do not come back', async () => {
    await using at = await project();
    const model = await gate(at);
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel');
    const driven = at.start(['groups', 'send', 'crew', 'a slow one']);
    await model.reached;
    const session = String((await shown(at, 'crew'))['session']);
    await run(at, 'groups', 'send', 'crew', 'the second');
    await run(at, 'groups', 'delete', 'crew');
    expect((await driven.ended).code).toBe(130);
    expect(await names(at)).toEqual([]);
    expect((await quick(at, 'groups', 'send', 'crew', 'Hi')).err).toContain('There is no group "crew"');
    expect((await quick(at, 'run', 'coder', 'Hi', '--session', session)).err).toContain('closed for good');
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel');
    expect((await shown(at, 'crew')).runs).toEqual([]);
  });

  it('regression 9: deleting a folder moves what lies in it', async () => {
    await using at = await project();
    await run(at, 'groups', 'create', 'work');
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel', '--folder', 'work');
    await run(at, 'run', 'coder', 'Hi', '--quiet');
    await run(at, 'groups', 'move', 'last', 'work');
    await run(at, 'groups', 'move', 'crew', '--pin');
    expect((await quick(at, 'groups', 'delete', 'default')).err).toContain('cannot be deleted');
    expect(await run(at, 'groups', 'delete', 'work')).toContain('in the default one');
    const listed = objectIn(await run(at, 'groups', 'list', '--json'));
    expect(listed).toMatchObject({
      folders: [{ folder: '_default', sessions: [expect.stringMatching(/^ses_/)] }],
      groups: [{ name: 'crew', folder: '_default', pinned: true }],
    });
  });

  it('regression 45: many processes at once lose nothing, and one name is given once', async () => {
    await using at = await project();
    const made = await Promise.all([
      ...['a', 'b', 'c', 'd'].map((name) => at.troupe('groups', 'create', name, '--agent', 'panel')),
      ...[1, 2].map(() => at.troupe('groups', 'create', 'same', '--agent', 'panel')),
    ]);
    const refused = made.filter(({ code }) => code !== 0).map(({ err }) => err);
    expect(refused).toEqual([expect.stringContaining('There is "same" already')]);
    expect([...(await names(at))].sort()).toEqual(['a', 'b', 'c', 'd', 'same']);
  });

  it('says what is wrong', async () => {
    await using at = await project();
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel');
    expect((await quick(at, 'groups', 'create', 'other', '--agent', 'coder')).err).toContain('declares no group');
    expect((await quick(at, 'groups', 'rename', 'crwe', 'x')).err).toContain('Did you mean "crew"?');
    expect((await quick(at, 'groups', 'create', 'other', '--agent', 'panel', '--worktrees', 'group')).err).toContain(
      'is not in a git repository',
    );
    expect((await quick(at, 'groups', 'move', 'crew')).err).toContain('--pin');
    expect(await names(at)).toEqual(['crew']);
  });
});

describe('presets', () => {
  it('a group is made from one and saved as one, and a Squad team that did not change is left as it is', async () => {
    await using at = await project();
    const charter = '# Ada — Developer\n\nI write code.\n';
    const team =
      '# Crew\n\n## Members\n\n| Name | Role | Charter | Status |\n|---|---|---|---|\n| Ada | Developer | `.squad/agents/ada/charter.md` | ✅ Active |\n';
    await at.write('.squad/team.md', team);
    await at.write('.squad/agents/ada/charter.md', charter);
    await run(at, 'groups', 'create', 'crew', '--preset', 'Crew');
    expect(await shown(at, 'crew')).toMatchObject({
      preset: 'Crew',
      mode: 'reflect',
      members: [{ role: 'orchestrator' }, { name: 'Ada' }],
    });
    await run(at, 'groups', 'save', 'crew', '--squad', '--as', 'Crew');
    expect(await readFile(join(at.folder, '.squad/agents/ada/charter.md'), 'utf8')).toBe(charter);
    await run(at, 'groups', 'create', 'copied', '--preset', 'user:Crew');
    expect((await shown(at, 'copied'))['members']).toMatchObject([{ role: 'orchestrator' }, { name: 'Ada' }]);
    await run(at, 'groups', 'save', 'crew', '--as', 'Mine');
    await run(at, 'groups', 'create', 'other', '--preset', 'user:Mine');
    expect((await shown(at, 'other'))['members']).toMatchObject([{ role: 'orchestrator' }, { name: 'Ada' }]);
  });
});

describe('worktrees of a group', () => {
  async function repository(): Promise<TestProject> {
    const at = await project();
    await at.write('.gitignore', '.troupe/\n.config/\n');
    git(at.folder, 'init', '-q');
    git(at.folder, 'add', '.');
    git(at.folder, 'commit', '-qm', 'first');
    return at;
  }
  const treesOf = async (at: TestProject): Promise<readonly { path: string; branch: string; member?: string }[]> =>
    (await shown(at, 'crew'))['worktrees'] as never;

  it.each(['group', 'isolated'])('%s: workers write there and nowhere else, and deleting cleans up', async (strategy) => {
    await using at = await repository();
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel', '--worktrees', strategy);
    const [tree] = await treesOf(at);
    expect(tree).toMatchObject(strategy === 'group' ? {} : { member: 'coder' });
    await run(at, 'groups', 'send', 'crew', 'Please write a file.');
    const path = String(tree?.path);
    expect(await readFile(join(path, 'out.txt'), 'utf8')).toBe('by coder');
    expect(await isThere(join(at.folder, 'out.txt'))).toBe(false);

    const refused = await quick(at, 'groups', 'delete', 'crew');
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('not committed') });
    git(path, 'add', '.');
    git(path, 'commit', '-qm', 'work');
    const deleted = objectIn(await run(at, 'groups', 'delete', 'crew', '--json'));
    expect(deleted).toMatchObject({ branches: [tree?.branch] });
    expect(await isThere(path)).toBe(false);
    expect(git(at.folder, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
  });

  it('isolated: each worker has one, and talking to one worker goes to its own', async () => {
    await using at = await repository();
    await run(at, 'groups', 'create', 'crew', '--agent', 'desk', '--worktrees', 'isolated');
    const trees = await treesOf(at);
    expect(trees.map((one) => one.member)).toEqual(['coder', 'tester']);
    await run(at, 'groups', 'send', 'crew', '--member', 'coder', 'Please write a file.');
    const written = await Promise.all(trees.map(({ path }) => isThere(join(path, 'out.txt'))));
    expect(written).toEqual([true, false]);
    await run(at, 'groups', 'delete', 'crew', '--force');
    for (const { path, branch } of trees) {
      expect(await isThere(path)).toBe(false);
      expect(git(at.folder, 'branch', '--list', branch)).toBe('');
    }
  });

  it('are made again when somebody removed them', async () => {
    await using at = await repository();
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel', '--worktrees', 'group');
    const [tree] = await treesOf(at);
    git(at.folder, 'worktree', 'remove', '--force', String(tree?.path));
    await run(at, 'groups', 'send', 'crew', 'Please write a file.');
    expect(await isThere(join(String(tree?.path), 'out.txt'))).toBe(true);
  });
});

describe('seeing it', () => {
  it('shows the iterations with score, trend, workers and stop reason', async () => {
    await using at = await project();
    const loop = 'group: { mode: reflect, workers: [coder, tester], maxIterations: 3, evaluator: judge }';
    await at.write('agents/loop.md', `---\nname: loop\n${loop}\n---\nYou lead.\n`);
    await at.write('agents/judge.md', '---\nname: judge\n---\nYou judge.\n');
    const judged = (score: number) => ({ toolCalls: [{ name: 'evaluate', input: { score, rationale: 'because' } }] });
    const script = {
      agents: {
        ...REPLIES.agents,
        loop: [
          { when: { contains: 'The workers have answered' }, text: 'Together.' },
          { when: { contains: 'not reached yet' }, text: '@worker:coder again' },
          { text: '@worker:coder write\n@worker:tester test' },
        ],
        judge: [
          { when: { contains: 'iteration 2' }, ...judged(0.95) },
          { when: { contains: 'iteration 1' }, ...judged(0.5) },
        ],
      },
    };
    await at.write('replies.yaml', JSON.stringify(script));
    const { code, err } = await quick(at, 'run', 'loop', 'Do it.');
    expect(code, err).toBe(0);
    expect(JSON.parse(await run(at, 'show', 'last', '--json'))).toMatchObject({
      loop: { ended: 'goal_met', scores: [0.5, 0.95] },
    });
    const text = await run(at, 'show', 'last');
    expect(text).toMatch(/ITERATION +SCORE +TREND +WORKERS/);
    expect(text).toMatch(/1 +0\.50 +\S+ +coder \(unchecked\), tester \(unchecked\)/);
    expect(text).toMatch(/2 +0\.95 +improving +coder/);
    expect(text).toContain('the goal was met');
    const parsed = parseJson(await run(at, 'show', 'last', '--json'));
    expect(parsed.ok && parsed.value).toMatchObject({
      groups: [
        {
          iterations: [
            { iteration: 1, score: 0.5 },
            { iteration: 2, score: 0.95, trend: 'improving' },
          ],
          stop: 'goal_met',
        },
      ],
    });
  });
});
