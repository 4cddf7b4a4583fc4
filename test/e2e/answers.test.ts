/** Questions to the ledger, asked with the command line about a run that is known to the last word. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestProject, expectErrorObject, objectIn, type TestProject } from './support-project.ts';

const AGENT = '---\nname: helper\ntools: [read, write, shell]\npermissions: { write: allow, shell: deny }\n---\nYou help.\n';

let at: TestProject;

beforeAll(async () => {
  at = await createTestProject('', AGENT);
  await at.script(
    { toolCalls: [{ name: 'write', input: { path: 'notes.txt', content: 'one\ntwo\n' } }] },
    { finalReport: 'Two lines are written.' },
  );
  expect((await at.look('run', 'helper', 'Write two lines.')).code).toBe(0);
});
afterAll(async () => {
  await at[Symbol.asyncDispose]();
});

describe('troupe context', () => {
  it('says what the model saw, by origin, and with --parts where each part came from', async () => {
    const { out } = await at.look('context', 'last', '--turn', '2', '--json');
    const found = objectIn(out) as { turn: number; byOrigin: { origin: string; parts: number }[] };
    expect(found.turn).toBe(2);
    expect(found.byOrigin.map(({ origin, parts }) => `${origin} ${parts}`).toSorted()).toEqual([
      ...['answer 1', 'input 1', 'system 1', 'tool write 1', 'tools 3'],
    ]);
    const shown = await at.look('context', 'last', '--parts');
    expect(shown.out).toMatch(/^turn 2 of run_\S+, /);
    expect(shown.out).toMatch(/^tool write +1 +\d+ +\d+ +\d+ %$/m);
    expect(shown.out).toMatch(/^input +\d+ +run_\S+ input +.*Write two lines\./m);
  });

  it('of a turn that there was not, and of a run that nobody knows, is refused', async () => {
    const missing = await at.look('context', 'last', '--turn', '7', '--json');
    expect(missing.code).toBe(2);
    expectErrorObject(missing, 'usage');
    expect(missing.out).toContain('There is no request of turn 7');
    expect((await at.look('context', 'zzzz')).code).toBe(2);
    expect((await at.look('context', 'last', '--turn', '0')).code).toBe(2);
  });
});

describe('troupe query', () => {
  it('answers as a table, as JSON and as CSV', async () => {
    const sql = "SELECT tool, outcome, '' AS none, NULL AS nil, 'a\"b' AS quoted, tool FROM calls WHERE outcome <> 'ended'";
    expect((await at.look('query', sql)).out).toBe(
      'tool   outcome  none  nil  quoted  tool:2\nwrite  ok                  a"b     write\n',
    );
    expect((await at.look('query', sql, '--csv')).out).toBe('tool,outcome,none,nil,quoted,tool:2\nwrite,ok,"",,"a""b",write\n');
    expect(objectIn((await at.look('query', sql, '--json')).out)).toEqual({
      columns: ['tool', 'outcome', 'none', 'nil', 'quoted', 'tool:2'],
      rows: [{ tool: 'write', outcome: 'ok', none: '', nil: null, quoted: 'a"b', 'tool:2': 'write' }],
      ...{ cutBy: null, collected: 0 },
    });
    const cut = await at.look('query', 'SELECT position FROM events', '--rows', '1', '--session', 'last');
    expect(cut.out).toBe('position\n1\n');
    expect(cut.err).toContain('(queryRows)');
  });

  it('is refused with what is wrong, and too many rows with the limit', async () => {
    const wrong = await at.look('query', 'DROP TABLE runs', '--json');
    expect(wrong.code).toBe(2);
    expectErrorObject(wrong, 'usage');
    expect((await at.look('query', 'SELECT 1', '--rows', '100001')).err).toContain('(queryRowsMost)');
    expect((await at.look('query', 'SELECT 1', '--csv', '--json')).code).toBe(2);
  });
});

describe('troupe cost --prices', () => {
  it('sums up again at the prices of a file or a day, and says what was recorded', async () => {
    const tokens = objectIn((await at.look('cost', 'last', '--json')).out)['total'] as Record<string, number>;
    await at.write('prices.yaml', '"scripted:replies.yaml": { input: 2, output: 10 }\n');
    const { out } = await at.look('cost', 'last', '--prices', 'prices.yaml', '--json');
    const nanoUsd = (tokens['inputTokens'] ?? 0) * 2_000 + (tokens['outputTokens'] ?? 0) * 10_000;
    expect(objectIn(out)).toMatchObject({
      ...{ total: { ...tokens, nanoUsd }, lines: [{ nanoUsd }], days: [{ nanoUsd }] },
      repriced: { prices: 'prices in prices.yaml', recorded: tokens },
    });
    await at.write('settings.yaml', 'model: x\nprices: { "scripted:replies.yaml": { input: 2, output: 10 } }\n');
    expect(objectIn((await at.look('cost', '--prices', 'settings.yaml', '--json')).out)).toMatchObject({ total: { nanoUsd } });
    expect((await at.look('cost', '--prices', '2026-01-31')).err).toBe('at the prices of 2026-01-31; recorded at the time: $0\n');
  });

  it('of a day are those of that day: on 10 June 2025 this model became five times cheaper', async () => {
    await using project = await createTestProject();
    await project.serve({ text: 'Done.' });
    project.env['TROUPE_MODEL'] = 'openai/o3';
    expect((await project.look('run', 'helper', 'Go.')).code).toBe(0);
    // Prices are known of models at their own address.
    delete project.env['OPENAI_BASE_URL'];
    const at = async (...day: readonly string[]) => {
      const { out } = await project.look('cost', 'last', ...day, '--json');
      return objectIn(out)['total'] as Record<string, number>;
    };
    const { inputTokens = 0, outputTokens = 0, ...recorded } = await at();
    expect([inputTokens > 0, outputTokens > 0, recorded['nanoUsd'] ?? 0]).toEqual([true, true, 0]);
    const sum = (input: number, output: number) => inputTokens * input * 1_000 + outputTokens * output * 1_000;
    expect([(await at('--prices', '2025-06-01'))['nanoUsd'], (await at('--prices', '2025-08-01'))['nanoUsd']]).toEqual([
      ...[sum(10, 40), sum(2, 8)],
    ]);
  });

  it.each([
    ['nowhere.yaml', 'there is no such file'],
    ['notes.txt', 'it is no list of models with their prices'],
    ['2026-99-31', 'is no day of any calendar'],
  ])('of %s is refused', async (prices, why) => {
    const refused = await at.look('cost', '--prices', prices, '--json');
    expect(refused).toMatchObject({ code: 2, out: expect.stringContaining(why) });
    expectErrorObject(refused, 'usage');
  });
});
