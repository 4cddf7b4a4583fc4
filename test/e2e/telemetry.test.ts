/** Telemetry as a project has it: commands inside this process, a real collector. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { attributesOf, expectOfficial, spansIn, startCollector } from '../support/telemetry/collector.ts';
import { createTestProject, expectErrorObject, objectIn } from './support-project.ts';

const CALLS = { toolCalls: [{ name: 'list', input: {} }] };
const REPLIES = [CALLS, { text: 'Nothing but a quince.' }];

it('sends the spans of a run beside it, once; says how far; and tells of what was before when it is asked', async () => {
  await using project = await createTestProject();
  await using collector = await startCollector();
  await project.script(...REPLIES);
  // Before anybody wanted it.
  expect((await project.look('run', 'helper', 'look')).code).toBe(0);
  expect(await project.look('telemetry', 'status')).toMatchObject({ code: 0, out: expect.stringMatching(/^off/) });
  Object.assign(project.env, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20plum-4711-tree-0815',
  });
  await project.script(CALLS, { text: 'The key is plum-4711-tree-0815.' });
  expect((await project.look('run', 'helper', 'look')).code).toBe(0);
  const sent = collector.spans();
  expect(sent.map(({ name }) => name)).toEqual([
    ...['chat scripted:replies.yaml', 'execute_tool list', 'chat scripted:replies.yaml', 'invoke_agent helper'],
  ]);
  collector.bodies.forEach(expectOfficial);
  expect(collector.headers[0]).toMatchObject({ authorization: 'Bearer plum-4711-tree-0815' });

  const status = await project.look('telemetry', 'status', '--json');
  expect(objectIn(status.out)).toMatchObject({ state: 'on', spans: 4, refused: 0, behind: 0, content: false });
  expect((await project.look('telemetry', 'status')).out).toContain('4 spans, 0 refused');
  collector.bodies.length = 0;

  const backfill = await project.look('telemetry', 'backfill', 'last', '--json');
  expect(objectIn(backfill.out)).toMatchObject({ spans: 4, refused: 0 });
  expect(collector.spans()).toEqual(sent);
  expect(await project.look('telemetry', 'backfill', '--since', '1h')).toMatchObject({ code: 0 });
  expect(collector.spans()).toHaveLength(12);
  expect(await project.look('telemetry', 'backfill', '--since', '2099-01-01')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^0 spans/),
  });

  const file = await project.look('telemetry', 'backfill', 'last', '-o', 'spans.jsonl');
  expect(file).toMatchObject({ code: 0, out: '4 spans to spans.jsonl\n' });
  const [line = ''] = (await readFile(join(project.folder, 'spans.jsonl'), 'utf8')).split('\n');
  expect(spansIn(line)).toEqual(sent);
  expect(await project.look('ledger', 'verify')).toMatchObject({ code: 0 });
  expect((await project.look('logs', 'last', '--jsonl')).out).not.toContain('plum-4711');
});

it('fails no run: with a collector that refuses, or an address that makes no sense; and status says which', async () => {
  await using project = await createTestProject();
  await using collector = await startCollector({ status: 401 });
  await project.script({ text: 'Done.' });
  project.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
  expect(await project.look('run', 'helper', 'look')).toMatchObject({ code: 0 });
  expect(await project.look('telemetry', 'status', '--json')).toMatchObject({
    code: 1,
    out: expect.stringContaining('it answered 401'),
  });
  const status = await project.look('telemetry', 'status', '--offline', '--json');
  // A request, an answer, the beginning and the end of a run.
  expect([status.code, objectIn(status.out)]).toMatchObject([0, { state: 'on', spans: 0, behind: 4 }]);
  const refused = await project.look('telemetry', 'backfill', 'last', '--json');
  expect(refused.code).toBe(1);
  expectErrorObject(refused, 'io');

  project.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = 'localhost:4317';
  expect(await project.look('run', 'helper', 'look')).toMatchObject({ code: 0 });
  expect(await project.look('telemetry', 'status')).toMatchObject({
    code: 1,
    out: expect.stringContaining('is no http address'),
  });

  // Once it takes them, what was left is told with what is new, and nothing twice.
  collector.answers = [{ status: 200 }];
  project.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
  expect(await project.look('run', 'helper', 'look')).toMatchObject({ code: 0 });
  const ids = collector.spans().map(({ spanId }) => spanId);
  expect([ids.length, new Set(ids).size]).toEqual([6, 6]);
});

it('survives kill -9 of who sends: no span is missing, and only those of the batch that was cut off come twice', async () => {
  await using project = await createTestProject();
  await using collector = await startCollector({ status: 200 });
  await project.script(...REPLIES);
  project.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
  const letGo = collector.hold();
  const killed = project.start(['run', 'helper', 'look']);
  await expect.poll(() => collector.asked).toBe(1);
  killed.kill('SIGKILL');
  await killed.ended;
  // It has taken what nobody heard its answer to.
  letGo();
  await expect.poll(() => collector.bodies.length).toBe(1);
  const cutOff = collector.spans();
  expect((await project.look('resume', 'last')).code).toBe(0);
  await project.script(...REPLIES);
  expect((await project.look('run', 'helper', 'look')).code).toBe(0);
  const sent = collector.spans();
  collector.bodies.forEach(expectOfficial);
  collector.bodies.length = 0;
  expect((await project.look('telemetry', 'backfill', '--since', '1h')).code).toBe(0);
  const all = collector.spans();
  expect(all.length).toBeGreaterThanOrEqual(8);
  const byId = (spans: typeof all) => new Map(spans.map((span) => [span.spanId, span]));
  expect(byId(sent)).toEqual(byId(all));
  const twice = sent.filter(({ spanId }, index) => sent.findIndex((span) => span.spanId === spanId) !== index);
  expect(twice).toEqual(cutOff);
});

it('is set by troupe.yaml; a key that it does not know is an error', async () => {
  await using collector = await startCollector();
  const settings = (more: string) => `telemetry: { endpoint: "${collector.url}", content: true, service: house${more} }\n`;
  await using project = await createTestProject(settings(''));
  await project.script({ text: 'A quince.' });
  expect(await project.look('run', 'helper', 'look')).toMatchObject({ code: 0 });
  const run = collector.spans().find(({ name }) => name === 'invoke_agent helper');
  expect(attributesOf(run ?? { attributes: [] })).toMatchObject({ 'input.value': 'look', 'output.value': 'A quince.' });
  expect(collector.bodies[0]).toContain('"house"');
  await project.write('troupe.yaml', settings(', contents: true'));
  expect(await project.look('run', 'helper', 'look')).toMatchObject({ code: 2, err: expect.stringContaining('content') });
});

it('asks of what', async () => {
  await using project = await createTestProject();
  await project.script({ text: 'Done.' });
  expect(await project.look('telemetry', 'backfill')).toMatchObject({ code: 2, err: expect.stringContaining('--since 7d') });
  expect(await project.look('telemetry', 'backfill', '--since', 'soon')).toMatchObject({ code: 2 });
  await project.look('run', 'helper', 'look');
  const nowhere = await project.look('telemetry', 'backfill', 'last');
  expect(nowhere).toMatchObject({ code: 2, err: expect.stringContaining('OTEL_EXPORTER_OTLP_ENDPOINT') });
});
