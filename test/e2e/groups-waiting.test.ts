/** Groups that stand still: for a person's answer, or with prompts that nobody works on. */
import { describe, expect, it } from 'vitest';
import { gate, groupProject as project, quick, run, shown } from './support-groups.ts';
import { objectIn } from './support-project.ts';

describe('a group that stands still', () => {
  it('a stop says what becomes of the prompts that wait', async () => {
    await using at = await project();
    const model = await gate(at);
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel');
    const driven = at.start(['groups', 'send', 'crew', 'a slow one']);
    await model.reached;
    await run(at, 'groups', 'send', 'crew', 'the second');
    driven.kill('SIGKILL');
    await driven.ended;
    const { out, err } = await quick(at, 'groups', 'stop', 'crew');
    expect(out).toMatch(/^crew: run_\w+ is cancelled\n$/);
    expect(err).toMatch(
      /^1 prompt still in the queue; go on with it: .* groups resume "crew"\nto drop it: .* groups stop "crew" --all\n$/,
    );
    expect(await shown(at, 'crew')).toMatchObject({ state: 'idle', queue: [{ text: 'the second' }] });
    expect((await quick(at, 'groups', 'stop', 'crew')).err).toContain('groups resume "crew"');
    expect((await quick(at, 'groups', 'stop', 'crew', '--all')).err).toBe('');
  });

  it('is paused also when the run under way has ended before it could stop: the next prompt is not begun', async () => {
    await using at = await project();
    const model = await gate(at);
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel');
    const driven = at.start(['groups', 'send', 'crew', 'a slow one']);
    await model.reached;
    await run(at, 'groups', 'send', 'crew', 'the second');
    expect(await run(at, 'groups', 'pause', 'crew')).toContain('asked crew to pause');
    model.open();
    const ended = await driven.ended;
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('slowly') });
    expect(ended.err).toMatch(/the group is paused, 1 prompt in its queue; go on with it: .* groups resume "crew"/);
    expect(await shown(at, 'crew')).toMatchObject({ state: 'paused', queue: [{ text: 'the second' }], runs: [{}] });
    const third = await quick(at, 'groups', 'send', 'crew', 'the third');
    expect(third).toMatchObject({ code: 0, out: expect.stringContaining('crew is paused, 1 before this one') });
    expect(third.err).toContain('groups resume "crew"');
    expect(await run(at, 'groups', 'resume', 'crew')).toContain('answer to third');
    expect(await shown(at, 'crew')).toMatchObject({ state: 'idle', queue: [], runs: [{}, {}, {}] });
    expect(await run(at, 'groups', 'send', 'crew', 'the second')).toContain('answer to second');
  });

  it('waits while one of its workers asks, and says so wherever it is looked at', async () => {
    await using at = await project('permissions: { write: ask }\n');
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel');
    const sent = await quick(at, 'groups', 'send', 'crew', 'write a file');
    expect(sent.code).toBe(5);
    const { out } = await quick(at, 'show', 'last');
    expect(out).toContain('waiting');
    expect(out).toMatch(/approve \w+/);
    expect(out).not.toMatch(/interrupted|troupe resume/);
    expect(objectIn(await run(at, 'show', 'last', '--json'))).toMatchObject({ status: 'waiting', waits: [{ agent: 'coder' }] });
    expect(await shown(at, 'crew')).toMatchObject({ state: 'waiting', runs: [{ state: 'waiting' }] });
    const second = await quick(at, 'groups', 'send', 'crew', 'the second');
    expect(second).toMatchObject({
      code: 0,
      out: expect.stringContaining('queued: crew waits for an answer, 1 before this one'),
    });
    expect(second.err).toMatch(/see what it asks, and answer: .* show \w+/);
  });

  it('was left by its process, is taken up by the next prompt, and says how it stands then', async () => {
    await using at = await project('permissions: { write: ask }\n');
    const reached = Promise.withResolvers<void>();
    const never = Promise.withResolvers<never>();
    await at.serve(
      () => {
        reached.resolve();
        return never.promise;
      },
      { calls: [{ name: 'write', input: { path: 'out.txt', content: 'x' } }] },
    );
    await run(at, 'groups', 'create', 'crew', '--agent', 'panel');
    const driven = at.start(['groups', 'send', 'crew', 'write it']);
    await reached.promise;
    driven.kill('SIGKILL');
    await driven.ended;
    const sent = await quick(at, 'groups', 'send', 'crew', 'the second');
    expect(sent.out).toContain('queued: crew waits for an answer, 1 before this one');
    expect(sent.err).toMatch(/see what it asks, and answer: .* show \w+/);
    expect(await shown(at, 'crew')).toMatchObject({ state: 'waiting', queue: [{ text: 'the second' }] });
  });
});
