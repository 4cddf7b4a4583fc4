/** `troupe agents add <address of a card>` and what `doctor` says of it, as a person types it; the cards come over real HTTP. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program/program.ts';
import { ALICE, served } from '../support/a2a/served.ts';
import { answers, cardServer, goodCard } from '../support/peers/card-server.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { createTestProject, objectIn, type TestProject } from './support-project.ts';

const TOKEN = ['$', '{PEER_TOKEN}'].join('');
const fileOf = async (project: TestProject, name: string): Promise<string> =>
  await readFile(join(project.folder, 'agents', `${name}.md`), 'utf8');
const agentsIn = async ({ folder }: TestProject): Promise<readonly string[]> => (await readdir(join(folder, 'agents'))).sort();

async function asked(project: TestProject, answer: string | undefined, ...args: readonly string[]) {
  const terminal = testTerminal({ env: project.env, cwd: project.folder, interactive: true, answers: [answer] });
  const code = await runProgram(['-C', project.folder, ...args], terminal);
  // Where a line of a question is broken depends on the port.
  const progress = terminal.written.progress.replaceAll('\n  ¦ ', '');
  return { code, ...terminal.written, progress };
}

describe('an agent that lives elsewhere', () => {
  it('is shown, asked about and written', async () => {
    await using project = await createTestProject();
    await using server = await cardServer(answers(goodCard('http://127.0.0.1:9/a2a')));
    const no = await asked(project, 'no', 'agents', 'add', server.url);
    expect(no.code).toBe(130);
    expect(no.progress).toContain('Weather 2.1.0');
    expect(no.progress).toContain('Says what the weather will be');
    expect(no.progress).toContain('http://127.0.0.1:9/a2a (JSONRPC 1.0)');
    expect(no.progress).toMatch(/hash {6}[0-9a-f]{64}/);
    expect(await agentsIn(project)).toEqual(['helper.md']);

    const yes = await asked(project, 'yes', 'agents', 'add', server.url);
    expect(yes).toMatchObject({ code: 0, out: 'added     agents/weather.md\n' });
    expect(await fileOf(project, 'weather')).toBe(
      [
        ...['---', 'name: "weather"', 'description: "Says what the weather will be"', 'tags:', '  - "weather"'],
        ...['examples:', '  - "Rain in Rome?"', `a2a: "${server.url}"`, '---', ''],
      ].join('\n'),
    );
    expect((await project.look('check')).code).toBe(0);
    const { host } = new URL(server.url);
    expect((await project.look('agents', 'list')).out).toMatch(
      new RegExp(`weather +project +its own, at ${host} +agents/weather.md`),
    );
    expect(JSON.parse((await project.look('agents', 'list', '--json')).out)).toContainEqual(
      expect.objectContaining({ name: 'weather', models: [], remote: server.url }),
    );
    const shown = (await project.look('agents', 'show', 'weather')).out;
    expect(shown).toContain(server.url);
    expect(shown).not.toContain('models');
    expect((await project.look('agents', 'search', 'rain', 'in', 'rome')).out).toContain('weather');

    const again = await asked(project, 'yes', 'agents', 'add', server.url);
    expect(again).toMatchObject({ code: 2, progress: expect.stringContaining('There is already agents/weather.md') });
    const other = await project.look('agents', 'add', server.url, '--yes', '--name', 'sky', '--json');
    expect(objectIn(other.out)).toEqual({ added: 'sky', file: 'agents/sky.md', copy: null, warnings: [] });
    expect((await project.look('agents', 'remove', 'weather', '--yes')).code).toBe(0);
    expect(await agentsIn(project)).toEqual(['helper.md', 'sky.md']);
  });

  it('is not asked for anything when nobody is there to answer, or the words are wrong', async () => {
    await using project = await createTestProject();
    await using server = await cardServer(answers(goodCard('http://127.0.0.1:9/a2a')));
    for (const more of [
      [],
      ['--yes', '--name', '../up'],
      ['--yes', '--token-env', 'a b'],
      ['--yes', '--token-env', 'OPENAI_API_KEY'],
    ])
      expect((await project.look('agents', 'add', server.url, ...more)).code, more.join(' ')).toBe(2);
    for (const address of ['ftp://x.example/', 'http://a:b@x.example/', 'file:///etc/passwd'])
      expect((await project.look('agents', 'add', address, '--yes')).code, address).toBe(2);
    expect((await project.look('agents', 'add', 'reviewer.md', '--pin')).code).toBe(2);
    expect(server.asked).toEqual([]);
    expect(await agentsIn(project)).toEqual(['helper.md']);
  });

  it('says nothing in its file that a stranger should not: one line each, safe, short, quoted', async () => {
    await using project = await createTestProject();
    const evil = '\u001b[2Jx\r\n---\na2a: http://evil.example/\n"\u202e\u0000\u2028`';
    const skills = [
      {
        id: 'x',
        name: evil,
        tags: [evil, ...Array.from({ length: 99 }, (_, at) => `t${at}`)],
        examples: [evil, 'y'.repeat(9_999)],
      },
    ];
    const card = goodCard('http://127.0.0.1:9/a2a', { name: `we\u202eather ${evil}`, description: evil.repeat(500), skills });
    await using server = await cardServer(answers(card));
    const added = await asked(project, 'yes', 'agents', 'add', server.url);
    expect(added.code).toBe(0);
    expect(added.all).not.toMatch(/(?!\n)\p{Cc}|\u202e|\u2028/u);
    expect(added.progress).toContain('⟨U+202E⟩');
    const [name = ''] = (await agentsIn(project)).filter((file) => file !== 'helper.md');
    expect(name).toMatch(/^[a-z0-9-]+\.md$/);
    const shown = objectIn((await project.look('agents', 'show', name.replace('.md', ''), '--json')).out);
    expect(shown['remote']).toEqual({ card: server.url });
    expect(String(shown['description']).length).toBeLessThanOrEqual(1_000);
    expect(JSON.stringify(shown)).not.toMatch(/\\u001b|\\r|\\n---/);
    expect(shown['tags']).toHaveLength(20);
    expect((await project.look('check')).code).toBe(0);
  });

  it('that is no agent is refused with the reason', async () => {
    await using project = await createTestProject();
    await using page = await cardServer(answers('<html>', { 'content-type': 'text/html' }));
    const refused = await project.look('agents', 'add', page.url, '--yes');
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('text/html') });
    expect(refused.err).toContain('agent-card.json');
    await page.close();
    const gone = await project.look('agents', 'add', page.url, '--yes');
    expect(gone).toMatchObject({ code: 1, err: expect.stringContaining('ECONNREFUSED') });
    expect(await agentsIn(project)).toEqual(['helper.md']);
  });

  it('may want a key in a header, or what cannot be given', async () => {
    await using project = await createTestProject();
    const scheme = (value: object) => ({
      securitySchemes: { k: value },
      securityRequirements: [{ schemes: { k: { list: [] } } }],
    });
    const key = scheme({ apiKeySecurityScheme: { name: 'X-Key', location: 'header' } });
    let more: object = key;
    await using server = await cardServer((request, response) =>
      answers({ ...goodCard('http://127.0.0.1:9/a2a'), ...more })(request, response),
    );
    const without = await project.look('agents', 'add', server.url, '--yes', '--name', 'bare');
    expect(without.err).toContain('--token-env');
    const unset = await project.look('agents', 'add', server.url, '--yes', '--name', 'keyed', '--token-env', 'PEER_TOKEN');
    expect(unset.err).toContain('PEER_TOKEN is not set yet');
    expect(await fileOf(project, 'keyed')).toContain(`  headers:\n    "X-Key": "${TOKEN}"\n`);
    for (const name of ['Host', 'X\r\nY', 'content-length']) {
      more = scheme({ apiKeySecurityScheme: { name, location: 'header' } });
      const odd = await project.look('agents', 'add', server.url, '--yes', '--name', 'odd', '--force');
      expect(odd.err, name).toContain('cannot be used for it');
    }
    more = scheme({ mtlsSecurityScheme: {} });
    expect((await project.look('agents', 'add', server.url, '--yes', '--name', 'mutual')).err).toContain('certificate');
  });
});

describe('troupe doctor', () => {
  it('tries it: card, pin and token', async () => {
    await using peer = await served();
    await using project = await createTestProject();
    const card = `${peer.origin}/a2a/agents/helper/.well-known/agent-card.json`;
    await project.write('.env', `PEER_TOKEN=${ALICE}\n`);
    const added = await project.look('agents', 'add', card, '--yes', '--name', 'afar', '--pin', '--token-env', 'PEER_TOKEN');
    expect(added).toMatchObject({ code: 0, err: expect.not.stringContaining('warning') });
    const file = await fileOf(project, 'afar');
    expect(file).toContain(`a2a:\n  card: "${card}"\n  token: "${TOKEN}"\n  pin: "`);
    const { findings: all } = objectIn((await project.look('doctor', '--json')).out);
    expect(all).toContainEqual(expect.objectContaining({ about: 'remote afar', state: 'good' }));
    expect(JSON.stringify(all)).not.toContain('a2a:');
    const finding = async () => {
      const { findings } = objectIn((await project.look('doctor', '--json')).out);
      return (Array.isArray(findings) ? findings : []).find((one) => objectIn(JSON.stringify(one))['about'] === 'remote afar');
    };
    expect(await finding()).toMatchObject({ state: 'good', text: expect.stringContaining('pinned') });
    await project.write(
      'agents/afar.md',
      file.replace(/pin: "(.)/, (_, first) => `pin: "${first === '0' ? '1' : '0'}`),
    );
    // A pin says where what is allowed may go, so another one has to be allowed again.
    expect(await finding()).toMatchObject({ state: 'broken', fix: expect.stringContaining('troupe agents allow afar') });
    expect((await project.look('agents', 'allow', 'afar', '--yes')).code).toBe(0);
    expect(await finding()).toMatchObject({ state: 'broken', fix: expect.stringContaining('pin:') });
    await project.write('agents/afar.md', file);
    await project.write('.env', 'PEER_TOKEN=wrong-0123456789\n');
    expect(await finding()).toMatchObject({ state: 'broken', fix: expect.stringContaining('token') });
    await project.write('agents/afar.md', file.replace('PEER_TOKEN', 'OPENAI_API_KEY'));
    expect(await finding()).toMatchObject({ state: 'broken', text: expect.stringContaining('key of a model provider') });
    expect((await project.look('doctor', '--offline')).out).toContain('not asked (--offline)');
  });
});

it('what a file names of the environment is sent only where somebody has allowed it', async () => {
  await using peer = await served();
  await using project = await createTestProject();
  project.env['PEER_TOKEN'] = ALICE;
  const card = `${peer.origin}/a2a/agents/helper/.well-known/agent-card.json`;
  const file = `---\nname: afar\na2a: { card: "${card}", token: "${TOKEN}" }\n---\n`;
  const run = async () => await project.look('run', 'afar', 'Hello');
  const tasks = async () => (await peer.project.ledger.runs({ roots: true })).length;
  await project.write('agents/afar.md', file);
  const refused = await run();
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain('nobody has allowed');
  expect(await tasks()).toBe(0);
  expect((await project.look('doctor')).out).toContain('troupe agents allow afar');
  const shown = await asked(project, 'yes', 'agents', 'allow', 'afar');
  expect(shown).toMatchObject({ code: 0, progress: expect.stringContaining(`sends PEER_TOKEN of your environment to ${card}`) });
  expect(await run()).toMatchObject({ code: 0, out: expect.stringContaining('Done.') });
  // Another address, or another variable, is another thing.
  await project.write('agents/afar.md', file.replace('PEER_TOKEN', 'GITHUB_TOKEN'));
  expect((await run()).err).toContain('nobody has allowed');
  // Where the card may lead what is sent is said, too.
  for (const [more, where] of [
    ['binding: GRPC', 'by gRPC to the port of 127.0.0.1 that the card names'],
    [`pin: "${'f'.repeat(64)}"`, `to where the card with the hash ${'f'.repeat(64)} leads`],
  ] as const) {
    await project.write('agents/afar.md', file.replace(' }', `, ${more} }`));
    expect((await asked(project, 'no', 'agents', 'allow', 'afar')).progress).toContain(where);
  }
  await project.write('agents/afar.md', file);
  await project.write('troupe.yaml', 'permissions: { fetch: deny }\n');
  expect((await run()).err).toContain('deny `fetch`');
  expect(await tasks()).toBe(1);
});
