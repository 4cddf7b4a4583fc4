import { describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { ok } from '../base/result.ts';
import { createGuard } from '../tools/closed/guard.ts';
import { executorFields } from './entry.ts';
import { builtinExecutor, knownExecutors } from './known/entries.ts';
import { createExecutors } from './open.ts';
import { resolveExecutors } from './resolve.ts';

const known = {
  source: 'known',
  fields: {
    ...knownExecutors,
    builtin: builtinExecutor({ program: ['node', 'main.ts'], args: ['--home', '/x'], keys: ['MY_KEY'] }),
  },
} as const;

describe('known executors', () => {
  it.each(Object.entries(known.fields))('%s says nothing that executors.yaml could not say', (_name, fields) => {
    expect(executorFields.parse(fields)).toEqual(fields);
  });

  it('are all there, with keys only of their own', () => {
    const { entries, problems } = resolveExecutors([known]);
    expect(problems).toEqual([]);
    expect(entries.map(({ name }) => name)).toEqual([
      'builtin',
      'claude-code',
      'cline',
      'codex',
      'copilot',
      'gemini',
      'kilo',
      'opencode',
      'pi',
      'qwen',
    ]);
    for (const { needs, keys } of entries) expect(keys).toEqual(expect.arrayContaining(needs ?? []));
    expect(entries.find(({ name }) => name === 'claude-code')?.keys).not.toContain('OPENAI_API_KEY');
    expect(entries[0]?.reach).toEqual({ kind: 'stdio', program: 'node', args: ['main.ts', 'acp', '--executor', '--home', '/x'] });
  });
});

describe('entries of files', () => {
  const of = (name: string, ...layers: Parameters<typeof resolveExecutors>[0][number][]) => {
    const { entries, problems } = resolveExecutors([known, ...layers]);
    return entries.find((one) => one.name === name) ?? problems.find((one) => one.name === name)?.message;
  };

  it('change fields of known ones, the project over the user', () => {
    const entry = of(
      'gemini',
      { source: 'user', fields: { gemini: { env: { A: '1', B: '1' }, title: 'Mine' } } },
      { source: 'project', fields: { gemini: { env: { B: '2' }, modes: { full: 'yolo' } } } },
    );
    expect(entry).toMatchObject({
      ...{ title: 'Mine', source: 'project', modes: { 'read-only': 'plan', full: 'yolo' } },
      env: { GEMINI_CLI_TRUST_WORKSPACE: 'true', A: '1', B: '2' },
      reach: { program: 'gemini', args: ['--acp'] },
    });
  });

  it('are like others, reached in their own way', () => {
    const fields = { far: { like: 'near', address: '[::1]:18088' }, near: { like: 'codex' } };
    expect(of('far', { source: 'project', fields })).toMatchObject({
      ...{ title: 'Codex', refusal: 'cancels', reach: { kind: 'tcp', host: '::1', port: 18_088 } },
    });
  });

  it('without sense are named', () => {
    const fields = {
      both: { command: ['a'], address: 'b:1' },
      none: { title: 'none' },
      port: { address: 'host:99999' },
      round: { like: 'about' },
      about: { like: 'round' },
      lost: { like: 'gemni' },
    };
    const problem = (name: string) => of(name, { source: 'user', fields });
    expect(problem('both')).toMatch(/both a command and an address/);
    expect(problem('none')).toMatch(/neither a command nor an address/);
    expect(problem('port')).toMatch(/99999, which is none/);
    expect(problem('round')).toMatch(/like itself: round → about → round/);
    expect(problem('lost')).toMatch(/gemni, which nobody knows. Did you mean "gemini"\?/);
  });

  it('that are asked for and not there are told with what there is', async () => {
    const executors = createExecutors({
      ...{ clock: systemClock, random: systemRandom, guard: createGuard(), environment: {} },
      redact: (text) => text,
      builtin: { program: ['troupe'], args: [], keys: [] },
      layers: async () => ok([{ source: 'project', fields: { mine: { title: 'Mine' } } }]),
    });
    const open = (executor: string) => executors.open({ executor, key: 'a', cwd: '/', mcp: [] }, new AbortController().signal);
    expect(await open('gemni')).toMatchObject({ error: { why: 'unavailable', fix: 'Did you mean "gemini"?' } });
    expect(await open('mine')).toMatchObject({ error: { why: 'unavailable', fix: 'Correct its entry in executors.yaml.' } });
    expect((await executors.entries()).length).toBe(10);
    await executors.close();
  });
});
