/**
 * A pattern that no file of the product knows, put into the table and run by the embedded engine: children, tools, the answer
 * as it is streamed, the tree, and a cut at every append. That the engine needs no change for one is what this test is for.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { crashAt } from '../../test/support/ledger/crash.ts';
import { agent, createWorld, says, type World, type WorldOptions } from '../../test/support/world.ts';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import type { RunId } from '../base/ids.ts';
import { readAll } from '../engine/record/read-all.ts';
import { textOf, userText } from '../events/messages.ts';
import { foldRunTree, initialRunTree } from '../projections/run-tree.ts';
import { type AgentRun, wantedBy } from './agent-run.ts';
import { answersItself, notYet, type Pattern, passesOn } from './pattern.ts';
import { registeredPatterns } from './registered.ts';
import type { RunResult } from './steps.ts';

/** Every voter answers the request; the chair gets the count, and its answer is that of the run. */
interface Vote {
  readonly voters: readonly string[];
  readonly chair: string;
}

const isVote = (value: unknown): value is Vote => typeof value === 'object' && value !== null && 'voters' in value;
const voteOf = (definition: AgentDefinition): Vote | undefined => {
  const declared: unknown = Reflect.get(definition, 'vote');
  return isVote(declared) ? declared : undefined;
};

async function runVote({ steps, input }: AgentRun, { voters, chair }: Vote): Promise<RunResult> {
  const handles = [];
  for (const name of voters) handles.push(await steps.start(`vote/${name}`, name, input, { kind: 'pattern', role: 'voter' }));
  const results = await steps.settled(handles);
  const yes = await steps.step('vote/count', async () => results.filter(({ report }) => report.body === 'yes').length);
  const asked = userText(`${yes} of ${voters.length} said yes.`);
  const judging = await steps.start('vote/chair', chair, asked, { kind: 'pattern', role: 'chair', reason: 'the vote is over' });
  const [judged] = await steps.settled([judging]);
  return judged as RunResult;
}

const vote: Pattern = {
  key: 'vote',
  tools: ['call_vote'],
  answeredBy: ['chair'],
  core(run, _request) {
    const declared = voteOf(run.agent);
    return declared === undefined ? undefined : runVote(run, declared);
  },
};

const patterns = [vote, ...registeredPatterns];
const RUN = 'run_00000000000000000vote' as RunId;
const DEAD_PID = 2 ** 22 + 1;
const folder = mkdtempSync(join(tmpdir(), 'troupe-registration-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const declaring: AgentDefinition & { readonly vote: Vote } = {
  ...agent({ name: 'lead', tools: [], handoff: { to: 'editor', include: 'report' } }),
  vote: { voters: ['ann', 'ben', 'cleo'], chair: 'dora' },
};
const { handoff: _handoff, ...alone } = declaring;
const others = ['ann', 'ben', 'cleo', 'dora', 'editor'].map((name) => agent({ name, tools: [] }));

const brain: WorldOptions['brain'] = (request) => {
  request.onDelta?.({ type: 'text', text: `${request.agent} writes` });
  if (request.agent === 'ben') return says('no');
  if (request.agent === 'ann' || request.agent === 'cleo') return says('yes');
  const [message] = request.messages;
  return says(`${request.agent}: ${message?.role === 'user' ? textOf(message.content) : ''}`);
};

const worldOf = (lead: AgentDefinition, more: Partial<WorldOptions> = {}): World =>
  createWorld({ agents: [lead, ...others], brain, engineOptions: { patterns }, ...more });

async function result(world: World): Promise<RunResult | undefined> {
  const resumed = await world.engine.resume(RUN);
  if (resumed.kind === 'ended') return resumed.result;
  const request = { agent: 'lead', input: userText('Shall we?'), workspace: '.', run: RUN };
  const started = resumed.kind === 'resumed' ? resumed : await world.engine.start(request);
  if (!('handle' in started)) return undefined;
  const end = await started.handle.done;
  return end.kind === 'ended' ? end.result : undefined;
}

it('is run with the patterns that follow it, and shown by its roles', async () => {
  const world = worldOf(declaring);
  expect(await result(world)).toMatchObject({
    status: 'completed',
    report: { body: 'editor: dora: 2 of 3 said yes.' },
    finalAgent: 'editor',
  });
  const { session } = (await world.ledger.runs({ roots: true }))[0] ?? {};
  if (session === undefined) throw new Error('There is no session.');
  const tree = (await readAll(world.ledger, session)).reduce(foldRunTree, initialRunTree());
  const shown = [...tree.runs.values()].map((node) => [node.agent, node.role, node.reason]);
  expect(shown).toEqual([
    ['lead', null, null],
    ...['ann', 'ben', 'cleo'].map((name) => [name, 'voter', null]),
    ['dora', 'chair', 'the vote is over'],
    ['editor', 'handoff', 'lead handed over'],
  ]);
  await world.close();
});

it.each([
  ['by whom it says', alone, ['dora']],
  ['unless something follows', declaring, ['editor']],
] as const)('is answered %s', async (_name, lead, answering) => {
  const world = worldOf(lead);
  const streamed: string[] = [];
  world.engine.watch(({ agent: name, terminal }) => {
    if (terminal) streamed.push(name);
  });
  expect((await result(world))?.finalAgent).toBe(answering[0]);
  expect(streamed).toEqual(answering);
  await world.close();
});

it('has its tools for itself', async () => {
  const caller = agent({ name: 'lead', tools: [], agents: ['call_vote', 'ann'] });
  const world = createWorld({
    agents: [caller, ...others, agent({ name: 'call_vote', tools: [] })],
    brain: (request) => says(request.tools.map(({ name }) => name).join(' ')),
    engineOptions: { patterns },
  });
  const offered = (await result(world))?.report.body.split(' ');
  expect(offered).toContain('ann');
  expect(offered).not.toContain('call_vote');
  await world.close();
});

it('goes on after a cut at every append', async () => {
  for (let cut = 0, last = 1; cut <= last; cut += 1) {
    const path = join(folder, `${cut}.db`);
    let appends = (): number => 0;
    const dying = worldOf(declaring, {
      path,
      owner: { pid: DEAD_PID },
      wrapLedger: (inner) => {
        const crashing = crashAt(inner, cut === 0 ? Number.POSITIVE_INFINITY : cut);
        appends = crashing.appends;
        return crashing.ledger;
      },
    });
    const first = await result(dying);
    await dying.ledger.close();
    if (cut === 0) {
      last = appends();
      expect(last).toBeGreaterThan(10);
      expect(first?.report.body).toBe('editor: dora: 2 of 3 said yes.');
      continue;
    }
    const next = worldOf(declaring, { path });
    expect((await result(next))?.report.body, `cut at ${cut}`).toBe('editor: dora: 2 of 3 said yes.');
    expect(await next.ledger.verify()).toMatchObject({ kind: 'sound' });
    await next.close();
  }
});

it('a key that the schema knows is refused until a pattern is registered for it', async () => {
  const planning = agent({ name: 'lead', tools: [], architect: { executor: 'ann' } });
  const others = registeredPatterns.filter(({ key }) => key !== 'architect');
  expect(notYet(registeredPatterns, planning)).toEqual([]);
  expect(notYet(others, planning)).toEqual(['architect']);
  const refusing = worldOf(planning, { engineOptions: { patterns: others } });
  const started = await refusing.engine.start({ agent: 'lead', input: userText('go'), workspace: '.' });
  expect(started).toMatchObject({ kind: 'refused', error: { code: 'not_yet' } });
  await refusing.close();
  const runsIt = [{ ...vote, key: 'architect' }, ...others];
  expect(notYet(runsIt, planning)).toEqual([]);
  const running = worldOf(planning, { engineOptions: { patterns: runsIt } });
  expect((await result(running))?.report.body).toBe('lead: Shall we?');
  await running.close();
});

it('what follows an answer decides who gives it', () => {
  const wanted = (changes: Partial<AgentDefinition>, origin: Parameters<typeof wantedBy>[0]['origin'] = { kind: 'person' }) => ({
    agent: agent(changes),
    ...wantedBy({ agent: 'worker', input: userText('go'), origin, depth: 0 }),
  });
  const handoff = { to: 'editor', include: 'report' } as const;
  const router = { destinations: ['ann'] };
  const seat = { team: 'run_team', member: 'worker', role: 'supervisor', cycle: 1, turnsBefore: 0 } as const;
  const supervising = { kind: 'seat', parent: 'run_team', role: 'supervisor', seat } as const;
  const own = { ...supervising, seat: { ...seat, own: true } };
  const itself = (...given: Parameters<typeof wanted>): boolean => answersItself(registeredPatterns, wanted(...given));
  expect([itself({}), itself({ advisors: ['ann'] })]).toEqual([true, true]);
  expect([itself({ handoff }), itself({ router }), itself({ team: { members: ['ann'] } })]).toEqual([false, false, false]);
  // In the supervisor's seat only its own handoff counts, and that belongs to the team if the team is its own.
  expect([itself({ handoff }, supervising), itself({ router }, supervising), itself({ handoff }, own)]).toEqual([
    false,
    true,
    true,
  ]);
  // Whoever has answered and is asked again goes on with its conversation; its patterns were for the first request.
  const clarification = { kind: 'clarification', parent: 'run_above', maxTurns: 3 } as const;
  const started = { agent: 'worker', input: userText('go'), origin: clarification, depth: 0, continues: 'run_before' };
  expect(answersItself(registeredPatterns, { agent: agent({ handoff, router }), ...wantedBy(started) })).toBe(true);
  const passed = (role: string | undefined, changes: Partial<AgentDefinition>): boolean =>
    passesOn(registeredPatterns, wanted(changes), role);
  expect(['handoff', 'router', 'supervisor', 'advisor', 'member', undefined].map((role) => passed(role, {}))).toEqual([
    ...[true, true, true],
    ...[false, false, false],
  ]);
  expect(['handoff', 'router', 'supervisor'].map((role) => passed(role, { handoff, router }))).toEqual([true, false, false]);
});
