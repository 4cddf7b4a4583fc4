/** The registry follows the agent files, and its index lives in a ledger's file without harming it. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { appendOrFail, givenRun, note } from '../../../test/conformance/ledger/support.ts';
import { type TemporaryProject, temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { openTestLedger, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/port.ts';
import { createFileSource } from './files.ts';
import { createRegistry, type Registry } from './registry.ts';
import { createSearchIndex } from './search-index.ts';
import type { SearchEntry } from './search-tables.ts';

/** As if every file had been written a while ago, so that stamps can be relied on. */
const later: Clock = { ...systemClock, now: () => systemClock.now() + 60_000 };

const agentText = (description: string, more = ''): string => `---\ndescription: ${description}\n${more}---\nPrompt.\n`;

interface RegistryProject extends AsyncDisposable {
  readonly project: TemporaryProject;
  readonly path: string;
  readonly ledger: Ledger;
  readonly registry: Registry;
}

const registryAt = (root: string, path: string, clock = later): Registry =>
  createRegistry({ path, clock, ...createFileSource({ projectRoot: root, clock }) });

async function registryProject(files: Readonly<Record<string, string>>): Promise<RegistryProject> {
  const project = await temporaryProject(files);
  const path = join(project.root, '.troupe', 'ledger.db');
  const ledger = openTestLedger({ path });
  const registry = registryAt(project.root, path);
  return {
    project,
    path,
    ledger,
    registry,
    [Symbol.asyncDispose]: async () => {
      registry.close();
      await ledger.close();
      await project[Symbol.asyncDispose]();
    },
  };
}

const found = async (registry: Registry, query: string): Promise<readonly string[]> =>
  (await registry.search(query, 10)).map((item) => item.name);

const holds = (path: string): readonly string[] => {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare('SELECT name FROM agent_entry ORDER BY name').all();
  database.close();
  return rows.map((row) => String(row['name']));
};

describe('the registry', () => {
  it('lists by name, page by page, with what a list shows', async () => {
    await using at = await registryProject({
      'agents/b.md': agentText('Second.', 'tags: [x, y]\n'),
      'agents/a.md': '---\n---\nx',
      '.claude/agents/c.md': '---\nname: c\ndescription: Third.\n---\nx',
    });
    expect(await at.registry.list({ page: 1, pageSize: 2 })).toEqual({
      total: 3,
      items: [
        { id: 'a', name: 'a', description: '', tags: [], origin: 'project' },
        { id: 'b', name: 'b', description: 'Second.', tags: ['x', 'y'], origin: 'project' },
      ],
    });
    expect((await at.registry.list({ page: 2, pageSize: 2 })).items.map(({ id, origin }) => `${id} ${origin}`)).toEqual([
      'c claude',
    ]);
    expect(await at.registry.list({ page: 9, pageSize: 2 })).toEqual({ total: 3, items: [] });
  });

  it('follows what is added, changed, renamed, switched off, broken and removed', async () => {
    await using at = await registryProject({ 'agents/baker.md': agentText('Bakes bread.') });
    const { registry, project } = at;
    const upon = async (change: () => unknown, query: string): Promise<readonly string[]> => {
      await change();
      await registry.refresh();
      return await found(registry, query);
    };
    expect(await found(registry, 'bread')).toEqual(['baker']);
    expect(await upon(() => project.write('agents/new.md', agentText('Slices bread.')), 'bread')).toEqual(['baker', 'new']);
    expect(await upon(() => project.write('agents/baker.md', agentText('Bakes cake.')), 'bread')).toEqual(['new']);
    expect(await found(registry, 'cake')).toEqual(['baker']);
    const file = (name: string): string => join(project.root, 'agents', name);
    expect(await upon(() => renameSync(file('new.md'), file('slicer.md')), 'bread')).toEqual(['slicer']);
    expect(await upon(() => project.write('agents/slicer.md', '---\nnope: 1\n---\nx'), 'bread')).toEqual([]);
    expect(await upon(() => project.write('agents/slicer.md', agentText('Slices bread.')), 'bread')).toEqual(['slicer']);
    const foreign = (disabled: boolean): string =>
      `---\nname: toaster\ndescription: Toasts bread.\ndisabled: ${disabled}\n---\nx`;
    expect(await upon(() => project.write('.claude/agents/t.md', foreign(false)), 'toasts')).toEqual(['toaster']);
    expect(await upon(() => project.write('.claude/agents/t.md', foreign(true)), 'toasts')).toEqual([]);
    expect(await upon(() => rmSync(file('slicer.md')), 'bread')).toEqual([]);
    expect(holds(at.path)).toEqual(['baker']);
  });

  it('takes the nearer of two agents of one name', async () => {
    await using at = await registryProject({
      'agents/helper.md': agentText('Near.'),
      '.claude/agents/helper.md': '---\nname: helper\ndescription: Far.\n---\nx',
    });
    expect((await at.registry.search('helper', 5)).map((item) => item.description)).toEqual(['Near.']);
    rmSync(join(at.project.root, 'agents/helper.md'));
    await at.registry.refresh();
    expect((await at.registry.search('helper', 5)).map((item) => item.description)).toEqual(['Far.']);
  });

  it('notices a change by itself where folders can be watched', async () => {
    await using at = await registryProject({ 'agents/a.md': agentText('One.') });
    const source = createFileSource({ projectRoot: at.project.root, clock: later });
    let changed = (): void => undefined;
    const change = new Promise<void>((resolve) => {
      changed = resolve;
    });
    const watch = (onChange: () => void): (() => void) =>
      source.watch(() => {
        onChange();
        changed();
      });
    const registry = createRegistry({ path: at.path, clock: later, agents: source.agents, watch });
    expect(await found(registry, 'two')).toEqual([]);
    await at.project.write('agents/b.md', agentText('Two.'));
    await change;
    expect(await found(registry, 'two')).toEqual(['b']);
    registry.close();
  });
});

describe('reading', () => {
  it('is done once for a file that stays as it is, also by the next process', async () => {
    await using at = await registryProject({ 'agents/a.md': agentText('One.'), 'agents/b.md': agentText('Two.') });
    const source = createFileSource({ projectRoot: at.project.root, clock: later });
    const first = await source.agents(new Map());
    expect(await source.agents(new Map())).toBe(first);
    await at.registry.refresh();
    // What the next process is given instead of the file is what the first one left in the index.
    const database = new DatabaseSync(at.path);
    database.exec("UPDATE agent_entry SET entry = replace(entry, 'One.', 'Uno.') WHERE name = 'a'");
    database.close();
    const next = registryAt(at.project.root, at.path);
    await at.project.write('agents/b.md', agentText('Three.'));
    expect((await next.list({ page: 1, pageSize: 9 })).items.map((item) => item.description)).toEqual(['Uno.', 'Three.']);
    next.close();
  });

  it('is done again for a file that changed so recently that its stamp may be the same', async () => {
    await using at = await registryProject({ 'agents/a.md': agentText('One.') });
    const path = join(at.project.root, 'agents/a.md');
    const registry = registryAt(at.project.root, at.path, systemClock);
    expect(await found(registry, 'one')).toEqual(['a']);
    writeFileSync(path, agentText('Two.'));
    utimesSync(path, 1, 1);
    await registry.refresh();
    expect(await found(registry, 'two')).toEqual(['a']);
    registry.close();
  });
});

describe('the index', () => {
  it('leaves the ledger as sound as it was', async () => {
    await using at = await registryProject({ 'agents/a.md': agentText('One.') });
    const writer = await givenRun({ ledger: at.ledger, newSession: testIds.session, newRun: testIds.run });
    await appendOrFail(writer, [note(writer, 'before')]);
    await at.registry.refresh();
    await appendOrFail(writer, [note(writer, 'after')]);
    expect(holds(at.path)).toEqual(['a']);
    expect(await at.ledger.verify()).toMatchObject({ kind: 'sound', events: 3 });
    expect((await at.ledger.stats()).events).toBe(3);
    expect(await at.ledger.gc({ olderThanMs: 0, now: systemClock.now() + 1_000, dryRun: false })).toMatchObject({
      dryRun: false,
    });
    const again = openTestLedger({ path: at.path });
    expect((await again.verify()).kind).toBe('sound');
    await again.close();
    expect(await found(at.registry, 'one')).toEqual(['a']);
  });

  it.each([
    ['another layout', 'UPDATE agent_index SET layout = 99'],
    ['no entries', 'DROP TABLE agent_entry'],
    ['no words', 'DROP TABLE agent_search'],
    ['no table at all', 'DROP TABLE agent_search; DROP TABLE agent_entry; DROP TABLE agent_index'],
    ['other columns', 'DROP TABLE agent_entry; CREATE TABLE agent_entry (x)'],
    ['damaged words', 'DELETE FROM agent_search_data'],
    ['damaged sizes', 'DELETE FROM agent_search_docsize'],
    ['missing parts', 'DROP TABLE agent_search_idx'],
    ['missing settings', 'DROP TABLE agent_search_config'],
  ])('is made anew when it has %s', async (_what, harm) => {
    await using at = await registryProject({ 'agents/a.md': agentText('One.') });
    await at.registry.refresh();
    const database = new DatabaseSync(at.path, { defensive: false });
    database.exec(harm);
    database.close();
    expect(await found(at.registry, 'one')).toEqual(['a']);
    const next = registryAt(at.project.root, at.path);
    expect(await found(next, 'one')).toEqual(['a']);
    next.close();
    expect((await at.ledger.verify()).kind).toBe('sound');
  });

  it('is in memory without a ledger’s file, and touches no other file', async () => {
    await using project = await temporaryProject({ 'agents/a.md': agentText('One.'), 'text.db': 'not a database' });
    const foreign = join(project.root, 'foreign.db');
    const database = new DatabaseSync(foreign);
    database.exec('CREATE TABLE mine (x)');
    database.close();
    for (const path of [
      ':memory:',
      'postgres://host/db',
      join(project.root, 'none.db'),
      join(project.root, 'text.db'),
      foreign,
    ]) {
      const registry = registryAt(project.root, path);
      expect(await found(registry, 'one'), path).toEqual(['a']);
      registry.close();
    }
    expect(existsSync(join(project.root, 'none.db'))).toBe(false);
    expect(new DatabaseSync(foreign).prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'mine' }]);
  });

  it.runIf(process.getuid?.() === 0)('is in memory where the ledger cannot be written', async () => {
    await using at = await registryProject({ 'agents/a.md': agentText('One.') });
    await at.ledger.close();
    chmodSync(at.project.root, 0o755);
    chmodSync(join(at.path, '..'), 0o555);
    chmodSync(at.path, 0o444);
    const program = `${loading(['createRegistry', './registry.ts'], ['createFileSource', './files.ts'])}
      process.setuid(65534);
      const source = createFileSource({ projectRoot: ${JSON.stringify(at.project.root)}, clock: systemClock });
      const registry = createRegistry({ path: ${JSON.stringify(at.path)}, clock: systemClock, ...source });
      process.stdout.write((await registry.search('one', 5)).map((item) => item.name).join());
      registry.close();`;
    expect(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })).toBe('a');
  });

  it('finds for each of two programs its own agents, whatever the other writes', async () => {
    await using at = await registryProject({});
    const [one, two] = [
      createSearchIndex({ path: at.path, clock: systemClock }),
      createSearchIndex({ path: at.path, clock: systemClock }),
    ];
    const entry = (name: string): SearchEntry => ({
      ...{ name, description: 'Bakes.', tags: [], examples: [], origin: 'project', file: '', stamp: '' },
    });
    await one.hold([entry('a'), entry('b')]);
    await two.hold([entry('b'), entry('c')]);
    for (let round = 0; round < 3; round += 1) {
      expect(await one.search('bakes', 5)).toEqual(['a', 'b']);
      expect(await two.search('bakes', 5)).toEqual(['b', 'c']);
    }
    expect([one.place(), two.place()]).toEqual(['file', 'file']);
    one.close();
    two.close();
  });
});

/** The beginning of a program that runs in a process of its own. */
function loading(...imports: readonly (readonly [name: string, file: string])[]): string {
  const all = [...imports, ['systemClock', '../../base/clock.ts'] as const];
  return all
    .map(([name, file]) => `const { ${name} } = await import(${JSON.stringify(new URL(file, import.meta.url).href)});`)
    .join('\n');
}

it('two processes that write the index while a third appends to the ledger do each other no harm', async () => {
  await using at = await registryProject({});
  const program = (which: string): string => `${loading(['createSearchIndex', './search-index.ts'])}
    const index = createSearchIndex({ path: ${JSON.stringify(at.path)}, clock: systemClock });
    for (let round = 0; round < 40; round += 1) {
      const names = Array.from({ length: 30 }, (_, at) => '${which}' + String((at + round) % 50).padStart(2, '0')).sort();
      const more = { description: 'Bakes.', tags: [], examples: [], origin: 'project', file: '', stamp: '' };
      await index.hold(names.map((name) => ({ name, ...more })));
      const found = await index.search('bakes', 100);
      if (found.join() !== names.join()) throw new Error('found ' + found);
    }
    process.stdout.write(index.place());
    index.close();`;
  const children = ['a', 'b'].map((which) =>
    spawn(process.execPath, ['--input-type=module', '-e', program(which)], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  let going = true;
  const ended = Promise.all(children.map((child) => once(child, 'close'))).finally(() => {
    going = false;
  });
  const writer = await givenRun({ ledger: at.ledger, newSession: testIds.session, newRun: testIds.run });
  for (let index = 0; going && index < 100_000; index += 1) await appendOrFail(writer, [note(writer, String(index))]);
  expect((await ended).map(([code]) => code)).toEqual([0, 0]);
  expect((await at.ledger.verify()).kind).toBe('sound');
  const database = new DatabaseSync(at.path);
  expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  database.exec("INSERT INTO agent_search (agent_search) VALUES ('integrity-check')");
  database.close();
});

describe('an agent that is added while somebody asks', () => {
  it('is found by the next question, every time', async () => {
    await using at = await registryProject({ 'agents/first.md': agentText('the first') });
    expect(await found(at.registry, 'first')).toEqual(['first']);
    for (let turn = 0; turn < 60; turn += 1) {
      writeFileSync(join(at.project.root, 'agents', `added${turn}.md`), agentText(`number${turn}`));
      expect(await found(at.registry, `number${turn}`)).toEqual([`added${turn}`]);
    }
    rmSync(join(at.project.root, 'agents', 'added7.md'));
    expect(await found(at.registry, 'number7')).toEqual([]);
  });
});
