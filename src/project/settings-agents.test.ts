/** Agents that live elsewhere, named in the settings: found, checked and used like those with files. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatDiagnostic } from '../agents/text/diagnostics.ts';
import { loadConfig } from './config.ts';
import { openProject } from './open.ts';

const CARD = 'https://weather.example/.well-known/agent-card.json';

async function folder(files: Readonly<Record<string, string>>) {
  const root = await mkdtemp(join(tmpdir(), 'troupe-settings-agents-'));
  await mkdir(join(root, 'agents'));
  await mkdir(join(root, 'config', 'troupe'), { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text);
  const env = { HOME: root, XDG_CONFIG_HOME: join(root, 'config') };
  return { root, env, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

async function problems(settings: string) {
  await using at = await folder({ 'troupe.yaml': settings });
  const config = await loadConfig({ cwd: at.root, env: at.env });
  return config.ok ? [] : config.error.map(formatDiagnostic);
}

it('are agents of the project, and others may name them', async () => {
  await using at = await folder({
    'troupe.yaml': `agents:\n  weather:\n    a2a: ${CARD}\n    description: Knows the weather\n    tags: [weather]\n`,
    'config/troupe/config.yaml': `agents:\n  weather: { a2a: "https://other.example/card" }\n  news: { a2a: "https://news.example/card" }\n`,
    'agents/boss.md': '---\nname: boss\nagents: [weather, news]\n---\nYou ask.\n',
  });
  const project = await openProject({ cwd: at.root, env: at.env });
  try {
    const { agents, diagnostics } = await project.agents();
    expect(diagnostics.map(formatDiagnostic)).toEqual([]);
    const remote = agents.flatMap(({ definition }) =>
      definition.remote === undefined ? [] : [[definition.name, definition.remote.card]],
    );
    // The project's own counts where the user has one of the same name.
    expect(remote.sort()).toEqual([
      ['news', 'https://news.example/card'],
      ['weather', CARD],
    ]);
    const weather = agents.find(({ definition }) => definition.name === 'weather')?.definition;
    expect(weather).toMatchObject({ description: 'Knows the weather', tags: ['weather'], source: 'troupe.yaml' });
  } finally {
    await project.close();
  }
});

it.each([
  ['no address', 'agents:\n  weather: { description: Knows }\n', /^troupe\.yaml:2:\d+: .*needs the key "a2a"/],
  ['true, which says that it is ours', 'agents:\n  weather: { a2a: true }\n', /^troupe\.yaml:2:\d+: /],
  ['what it has itself', `agents:\n  weather: { a2a: "${CARD}", tools: [read] }\n`, /^troupe\.yaml:2:\d+: .*unknown key "tools"/],
  [
    'a secret',
    `agents:\n  weather: { a2a: { card: "${CARD}", headers: { x-token: abc } } }\n`,
    /^troupe\.yaml:2:\d+: .*looks like a secret/,
  ],
  ['a name that is none', `agents:\n  "": { a2a: "${CARD}" }\n`, /^troupe\.yaml:2:\d+: /],
])('are refused with %s, at the place', async (_what, settings, said) => {
  expect((await problems(settings)).join('\n')).toMatch(said);
});

it('and a file of the same name are two', async () => {
  await using at = await folder({
    'troupe.yaml': `agents:\n  weather: { a2a: "${CARD}" }\n`,
    'agents/weather.md': `---\na2a: ${CARD}\n---\n`,
  });
  const project = await openProject({ cwd: at.root, env: at.env });
  const { diagnostics } = await project.agents();
  await project.close();
  expect(diagnostics.map(formatDiagnostic)).toEqual([
    expect.stringMatching(/^troupe\.yaml:2:3: .*a second agent named "weather"/),
  ]);
});
