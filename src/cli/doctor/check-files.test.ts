import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import { keysAt, knownKeysAt } from '../../agents/definition/json-schema.ts';
import type { JsonObject } from '../../base/json.ts';
import { settingsSchema } from '../../project/settings.ts';
import { runProgram } from '../program/program.ts';

async function check(files: Readonly<Record<string, string>>): Promise<{ readonly code: number; readonly out: string }> {
  await using project = await temporaryProject(files);
  const terminal = testTerminal({ env: { HOME: project.root, PATH: '/bin', OPENAI_API_KEY: 'k' } });
  const code = await runProgram(['-C', project.root, 'check'], terminal);
  return { code, out: terminal.written.out };
}

const AGENT = (keys: string): string => `---\nmodel: openai/gpt-5\n${keys}\n---\nHelp.\n`;
const SERVER = (more: string): string => `tools: [mcp:tickets]\nmcp:\n  tickets: { command: tickets${more} }`;

const filled = (name: string): string => `\${${name}}`;

describe('check', () => {
  it('says of a server in an agent file what a run would refuse it for', async () => {
    const named = await check({ 'agents/a.md': AGENT(SERVER(`, env: { KEY: "${filled('TICKETS_KEY')}" }`)) });
    expect(named.code).toBe(2);
    expect(named.out).toContain('agents/a.md:5:3: error: The MCP server "tickets" of the agent\'s own file names the variable');
    const denied = await check({ 'agents/a.md': AGENT(SERVER('')), 'troupe.yaml': 'permissions: { shell: deny }\n' });
    expect(denied).toMatchObject({ code: 2, out: expect.stringContaining("the project's settings deny `shell`") });
    const rules = async (map: string): Promise<number> =>
      (await check({ 'agents/a.md': AGENT(SERVER('')), 'troupe.yaml': `permissions: { shell: { ${map} } }\n` })).code;
    expect(await rules('"npm test": allow, "*": deny')).toBe(2);
    expect(await rules('"tickets*": deny, "*": allow')).toBe(2);
    expect(await rules('"tickets*": ask, "*": deny')).toBe(0);
  });

  it('is content with one that sees what every command sees, or is not used', async () => {
    expect((await check({ 'agents/a.md': AGENT(SERVER(`, env: { AT: "${filled('PATH')}" }`)) })).code).toBe(0);
    const unused = `tools: [read]\nmcp:\n  tickets: { command: tickets, env: { KEY: "${filled('TICKETS_KEY')}" } }`;
    expect((await check({ 'agents/a.md': AGENT(unused) })).code).toBe(0);
  });

  it('finds names under `permissions` in the settings that stand for nothing', async () => {
    const settings = 'permissions:\n  shel: deny\n  mcp:tickts: ask\n  "*": ask\n  protected:git: deny\n  tickets__close: deny\n';
    const { code, out } = await check({ 'agents/a.md': AGENT(SERVER('')), 'troupe.yaml': settings });
    expect(code).toBe(2);
    expect(out.split('\n').filter((line) => line !== '')).toEqual([
      'troupe.yaml:2:3: error: unknown tool "shel" in "permissions"',
      '  fix: Did you mean "shell"?',
      'troupe.yaml:3:3: error: unknown MCP server "tickts" in "permissions"',
      '  fix: Did you mean "tickets"?',
    ]);
  });

  it('finds agents that the settings name and that are not there', async () => {
    const settings =
      'serve:\n  commands: [helpr, ghost]\n' +
      '  callers: { ann: { tokenEnv: T, spawn: ["*", hlper] }, bob: { tokenEnv: U, spawn: [helper] } }\n' +
      'a2a:\n  agents: [helper, helperr, broken]\n  house: hel per\n';
    const agents = { 'agents/helper.md': AGENT('tools: []'), 'agents/broken.md': AGENT('tols: []') };
    const { code, out } = await check({ ...agents, 'troupe.yaml': settings });
    expect(code).toBe(2);
    const said = out.split('\n').filter((line) => line.startsWith('troupe.yaml'));
    expect(said).toEqual([
      'troupe.yaml:2:14: error: there is no agent "helpr" (named in "serve.commands")',
      'troupe.yaml:2:21: error: there is no agent "ghost" (named in "serve.commands")',
      'troupe.yaml:3:47: error: there is no agent "hlper" (named in "serve.callers.ann.spawn")',
      'troupe.yaml:5:20: error: there is no agent "helperr" (named in "a2a.agents")',
      'troupe.yaml:6:10: error: there is no agent "hel per" (named in "a2a.house")',
    ]);
    expect(out.match(/Did you mean "helper"\?/g)).toHaveLength(4);
  });

  it('names the pattern and the word of a rule that cannot be, in an agent file and in the settings', async () => {
    const rules = 'permissions: { shell: { "git diff*": allw, "": deny }, write: [allow], read: 3 }';
    const { out } = await check({ 'agents/a.md': AGENT(rules), 'troupe.yaml': `${rules}\nserve: { commands: [""] }\n` });
    for (const place of ['agents/a.md:3', 'troupe.yaml:1']) {
      const lines = out.split('\n');
      expect(lines.filter((line) => line.startsWith(place)).map((line) => line.slice(line.indexOf('error')))).toEqual([
        'error: "permissions.shell.git diff*" must be one of allow, ask, deny, not "allw"',
        'error: the name "" in "permissions.shell" must not be empty',
        'error: "permissions.write" must be one of allow, ask, deny or a map of keys, not a list',
        'error: "permissions.read" must be one of allow, ask, deny or a map of keys, not 3',
      ]);
      expect(lines[lines.findIndex((line) => line.startsWith(place)) + 1]).toBe('  fix: Did you mean "allow"?');
    }
    expect(out).toContain('"serve.commands[1]" must not be empty');
  });

  it('warns of commands under `verify` that prove nothing, in the settings and in every agent', async () => {
    const { code, out } = await check({
      'troupe.yaml': 'verify: [npm test || true]\n',
      'agents/a.md': AGENT('verify: ["npm run build", "npm run lint || echo no"]'),
      'agents/b.md': AGENT('group: { mode: reflect }\nverify:\n  commands:\n    - npm test | tail -1\n    - npm test &'),
    });
    expect(code).toBe(0);
    const lines = out.split('\n').filter((line) => line !== '');
    const nothing = 'warning: this command under "verify" proves nothing:';
    const hidden = (what: string) => `it says nothing about \`${what}\`: what follows \`||\` takes its place when it fails`;
    const fix = expect.stringMatching(/^ {2}fix: Write the command by itself/);
    expect(lines).toEqual([
      `agents/a.md:3:27: ${nothing} ${hidden('npm run lint')}`,
      fix,
      `agents/b.md:7:7: ${nothing} it leaves something running in the background`,
      fix,
      `troupe.yaml:1:10: ${nothing} ${hidden('npm test')}`,
      fix,
    ]);
  });
});

describe('check looks at everything in one pass', () => {
  const lines = (out: string): readonly string[] => out.split('\n').filter((line) => line !== '' && !line.startsWith('  fix'));

  it('also at the references and tools of a file whose keys are wrong', async () => {
    const { out } = await check({
      'agents/a.md': AGENT('temprature: 1\nmaxTurns: many\nagents: [b, nobody]\ntools: [bash]'),
      'agents/b.md': AGENT('handoff: { to: ghost }'),
    });
    expect(lines(out)).toEqual([
      'agents/a.md:3:1: error: unknown key "temprature"',
      'agents/a.md:4:11: error: "maxTurns" must be a number, not "many"',
      'agents/a.md:5:13: error: there is no agent "nobody" (named as sub-agent)',
      'agents/a.md:6:9: error: unknown tool "bash"',
      'agents/b.md:3:16: error: there is no agent "ghost" (named as handoff)',
    ]);
    expect(out).toContain('  fix: Here it is called "shell".');
  });

  it('and at agents when the settings are wrong, without blaming them for what the settings name', async () => {
    const files = (settings: string) => ({
      'troupe.yaml': settings,
      'agents/a.md': AGENT('agents: [nobody]\ntools: [mcp:tickets, mcp:tickts]'),
    });
    const wrong = await check(files('modle: x\nmcp: { tickets: { command: 5 } }\n'));
    expect(lines(wrong.out)).toEqual([
      'troupe.yaml:1:1: error: unknown key "modle"',
      expect.stringMatching(/^troupe\.yaml:2:\d+: error: "mcp\.tickets\.command" must be text, not 5$/),
      'agents/a.md:3:10: error: there is no agent "nobody" (named as sub-agent)',
      'agents/a.md:4:22: error: unknown MCP server "tickts"',
    ]);
    const unreadable = await check(files('mcp: { tickets: [\n'));
    expect(lines(unreadable.out).slice(-1)).toEqual(['agents/a.md:3:10: error: there is no agent "nobody" (named as sub-agent)']);
    expect(unreadable.code).toBe(2);
  });

  it('and at names of models and at prices that a budget needs', async () => {
    const { code, out } = await check({
      'agents/a.md': '---\nmodel: openai/gpt-5.55\n---\nHelp.\n',
      'agents/b.md': '---\nmodel: opnai/gpt-5.5\nbudget: { usd: 1 }\n---\nHelp.\n',
      'agents/c.md': '---\nmodel: mine/large\nbudget: { usd: 1 }\n---\nHelp.\n',
      'agents/d.md': '---\nmodel: mine/small\nbudget: { usd: 1 }\n---\nHelp.\n',
      'agents/e.md': '---\nmodel: mine/small\ndispatch: { agents: [a], model: opnai/small }\n---\nChoose.\n',
      'troupe.yaml':
        'providers: { mine: { baseURL: "http://127.0.0.1:1/v1" } }\nprices: { mine/small: { input: 1, output: 1 } }\n',
    });
    expect(lines(out)).toEqual([
      'agents/a.md:2:8: warning: the model openai/gpt-5.55 is in no list of openai that is known here',
      expect.stringMatching(/^agents\/b\.md:2:8: warning: no model of b can be asked from this shell: There is no model opnai/),
      expect.stringMatching(/^agents\/c\.md:3:\d+: warning: the price of mine\/large is not known, so this budget in dollars/),
      expect.stringMatching(/^agents\/e\.md:3:33: warning: no model of e can be asked from this shell: There is no model opnai/),
    ]);
    expect(out).toContain('fix: Did you mean "openai/gpt-5.5"?');
    expect(code).toBe(0);
  });

  it('and at the rest of a file and of a key whose first mistake is one of the schema', async () => {
    const { out } = await check({
      'agents/a.md': AGENT('dispatch: { agnts: [b], agents: [b, 5, ghost], fallback: a, model: opnai/x }\ntags: [x, x]'),
      'agents/b.md': AGENT(
        'group: { mode: brodcast, workers: [{ agent: 5 }, nobody], sharedContext: gone.md }\nverify: [npm test &]',
      ),
      'agents/c.md': AGENT('group: { mode: broadcast, workers: [5] }\nteam: { members: [a, a] }\nbudget: { usd: many }'),
      'agents/d.md': AGENT('tools: [mcp:own, mcp:othr]\nmcp: { own: { command: 5 } }\npermissions: { shel: deny, read: 5 }'),
    });
    expect(lines(out)).toEqual([
      'agents/a.md:3:13: error: unknown key "agnts" in "dispatch"',
      'agents/a.md:3:37: error: "dispatch.agents[2]" must be text, not 5',
      'agents/a.md:3:40: error: there is no agent "ghost" (named as dispatch)',
      'agents/a.md:3:58: error: the agent names itself as dispatch fallback: it would run for ever',
      'agents/a.md:4:11: error: "x" is listed twice in "tags"',
      'agents/b.md:3:16: error: "group.mode" must be one of broadcast, sequential, orchestrator, reflect, not "brodcast"',
      'agents/b.md:3:45: error: "group.workers[1].agent" must be text, not 5',
      'agents/b.md:3:50: error: there is no agent "nobody" (named as group worker)',
      expect.stringMatching(/^agents\/b\.md:3:74: error: the file "gone\.md" \(group\.sharedContext\) does not exist/),
      expect.stringMatching(/^agents\/b\.md:4:10: warning: this command under "verify" proves nothing/),
      'agents/c.md:3:1: error: "group" cannot stand beside "team": an agent has one core pattern',
      'agents/c.md:3:37: error: "group.workers[1]" must be text or a map of keys, not 5',
      'agents/c.md:4:22: error: "a" is listed twice in "team.members"',
      'agents/c.md:5:16: error: "budget.usd" must be a number, not "many"',
      'agents/d.md:3:18: error: unknown MCP server "othr"',
      'agents/d.md:4:24: error: "mcp.own.command" must be text, not 5',
      'agents/d.md:5:16: error: unknown tool "shel"',
      expect.stringMatching(/^agents\/d\.md:5:34: error: "permissions\.read" must be/),
      expect.stringMatching(/^agents\/a\.md:3:68: warning: no model of a can be asked from this shell: There is no model opnai/),
    ]);
  });

  it('and at circles and second names that lead through a file with another mistake', async () => {
    const { out } = await check({
      'agents/a.md': AGENT('handoff: b'),
      'agents/b.md': AGENT('handoff: a\nmodle: x'),
      'agents/c.md': AGENT('name: a\nmodle: x'),
      'agents/d.md': AGENT('agents: [c]'),
    });
    expect(lines(out)).toEqual([
      'agents/b.md:3:10: error: agents call each other in a circle: b -(handoff)-> a -(handoff)-> b',
      'agents/b.md:4:1: error: unknown key "modle"',
      'agents/c.md:3:7: error: a second agent named "a": agents/a.md has the same name',
      'agents/c.md:4:1: error: unknown key "modle"',
      'agents/d.md:3:10: error: there is no agent "c" (named as sub-agent)',
    ]);
  });

  it('and at the rest of a setting that is wrong in part', async () => {
    const settings =
      'permissions: { shel: deny, read: 5 }\nserve: { commands: [5, ghost] }\nproviders: { bad: { baseURL: x }, mine: { baseURL: "http://h/v1" } }\n';
    const { out } = await check({
      'troupe.yaml': `${settings}prices: { mine/small: { input: x } }\nmodel: opnai/x\nbudget: { usd: 1 }\n`,
      'agents/a.md': '---\nmodel: mine/large\n---\nHelp.\n',
      'agents/b.md': '---\nmodel: [bad/x, mine/small]\n---\nHelp.\n',
    });
    const said = lines(out).map((line) => line.replace(/: (error|warning): /, ' '));
    expect(said.slice(0, 5).join('\n')).toMatch(/permissions\.read.*serve\.commands.*providers\.bad.*prices.*prices/s);
    expect(said.slice(5)).toEqual([
      'troupe.yaml:1:16 unknown tool "shel" in "permissions"',
      'troupe.yaml:2:24 there is no agent "ghost" (named in "serve.commands")',
      expect.stringMatching(
        /^troupe\.yaml:5:8 no model in troupe\.yaml can be asked from this shell: There is no model opnai\/x/,
      ),
      "agents/a.md:2:8 the price of mine/large is not known, so the project's budget in dollars cannot be kept",
    ]);
  });

  it('and at prices of whoever is paid from a budget, also without a key', async () => {
    const usd = 'budget: { usd: 1 }';
    const { out } = await check({
      'agents/lead.md': `---\nmodel: openai/gpt-5\nagents: [helper]\n${usd}\n---\nHelp.\n`,
      'agents/helper.md': '---\nmodel: mine/large\n---\nHelp.\n',
      'agents/chooser.md': `---\nmodel: openai/gpt-5\ndispatch: { agents: [free], model: mine/large }\n${usd}\n---\nChoose.\n`,
      'agents/group.md': `---\nmodel: openai/gpt-5\ngroup: { mode: broadcast, workers: [{ agent: free, model: mine/x }] }\n${usd}\n---\nLead.\n`,
      'agents/free.md': '---\nmodel: openai/gpt-5\n---\nHelp.\n',
      'agents/far.md': `---\nmodel: anthropic/claude-sonet-9\n${usd}\n---\nHelp.\n`,
      'troupe.yaml': 'providers: { mine: { baseURL: "http://127.0.0.1:1/v1", apiKeyEnv: NO_SUCH_KEY } }\n',
    });
    expect(lines(out).filter((line) => line.includes('price'))).toEqual([
      'agents/chooser.md:4:16: warning: the price of mine/large is not known, so this budget in dollars cannot be kept',
      'agents/far.md:3:16: warning: the price of anthropic/claude-sonet-9 is not known, so this budget in dollars cannot be kept',
      'agents/group.md:4:16: warning: the price of mine/x, which free uses, is not known, so this budget in dollars cannot be kept',
      'agents/lead.md:4:16: warning: the price of mine/large, which helper uses, is not known, so this budget in dollars cannot be kept',
    ]);
  });

  it('and at agents elsewhere below a budget in dollars, as nobody knows what they cost', async () => {
    const far = (more = '') => `---\na2a: https://far.example/card.json\n${more}---\n`;
    const usd = 'budget: { usd: 1 }\n';
    const { out } = await check({
      'agents/lead.md': `---\nmodel: openai/gpt-5\nagents: [middle]\nbudget: { usd: 1, allowUnknownPrices: true }\n---\nHelp.\n`,
      'agents/middle.md': '---\nmodel: openai/gpt-5\nagents: [far, free]\n---\nHelp.\n',
      'agents/far.md': far(),
      'agents/free.md': far('budget: { allowUnknownPrices: true }\n'),
      'agents/alone.md': far(usd),
      'agents/counted.md': '---\nmodel: openai/gpt-5\nagents: [far]\nbudget: { calls: 9 }\n---\nHelp.\n',
    });
    expect(lines(out).filter((line) => line.includes('cost'))).toEqual([
      'agents/alone.md:3:16: warning: what alone costs is not known, as it lives elsewhere: under this budget in dollars it does not start',
      'agents/lead.md:4:16: warning: what far costs is not known, as it lives elsewhere: under this budget in dollars it is not asked',
    ]);
  });

  it("and at those below the project's budget", async () => {
    const { out } = await check({
      'agents/far.md': '---\na2a: https://far.example/card.json\n---\n',
      'agents/hand.md': '---\nexecutor: { name: pi, maxUsd: 1 }\n---\nHelp.\n',
      'troupe.yaml': 'budget: { usd: 1, tokens: 1000 }\n',
    });
    expect(lines(out).filter((line) => line.includes('costs'))).toEqual([
      "agents/far.md:2:6: warning: what far costs is not known, as it lives elsewhere: under the project's budget in dollars it does not start",
      "agents/far.md:2:6: warning: what far costs is not known, as it lives elsewhere: under the project's budget in tokens it does not start",
      "agents/hand.md:2:11: warning: what hand costs is not known before pi has worked: under the project's budget in tokens it does not start",
    ]);
  });

  it('and at the price of the model that agents get which name none', async () => {
    await using project = await temporaryProject({ 'agents/a.md': '---\nbudget: { usd: 1 }\n---\nHelp.\n' });
    const env = { HOME: project.root, OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_MODEL: 'local' };
    const terminal = testTerminal({ env });
    expect(await runProgram(['-C', project.root, 'check'], terminal)).toBe(0);
    expect(terminal.written.out).toContain('agents/a.md:2:16: warning: the price of openai/local is not known');
  });

  it('and a run says the same of a wrong name, also under a budget in dollars', async () => {
    await using project = await temporaryProject({
      'agents/b.md': '---\nmodel: opnai/gpt-5.5\nbudget: { usd: 1 }\n---\nHelp.\n',
    });
    const terminal = testTerminal({ env: { HOME: project.root, OPENAI_API_KEY: 'k' }, cwd: project.root });
    expect(await runProgram(['run', 'b', 'hi'], terminal)).not.toBe(0);
    expect(terminal.written.progress).toContain('There is no model opnai/gpt-5.5');
    expect(terminal.written.progress).not.toContain('price');
  });

  it.each([
    ['openai/gpt-99', 'is in no list of openai that is known here: its price is not known', 'Look whether the name is right'],
    ['openai/gpt-5.55', 'is in no list of openai that is known here: its price is not known', 'Did you mean "openai/gpt-5.5"?'],
  ])('first of all that no list has %s, where the provider is right', async (model, message, fix) => {
    await using project = await temporaryProject({ 'agents/b.md': `---\nmodel: ${model}\nbudget: { usd: 1 }\n---\nHelp.\n` });
    const env = { HOME: project.root, OPENAI_API_KEY: 'k', OPENAI_BASE_URL: '' };
    const terminal = testTerminal({ env, cwd: project.root });
    expect(await runProgram(['run', 'b', 'hi', '--json'], terminal)).not.toBe(0);
    expect(JSON.parse(terminal.written.out)).toMatchObject({
      error: {
        code: 'unknown_price',
        message: expect.stringContaining(`The model ${model} ${message}`),
        fix: expect.stringContaining(fix),
      },
    });
  });

  it('counts the files that are no agents yet because of what is wrong, for programs as for people', async () => {
    await using project = await temporaryProject({
      'agents/a.md': AGENT('modle: x'),
      'agents/team/b.md': AGENT('tolls: [shell]'),
      'agents/c.md': AGENT('tools: [shell]'),
    });
    const terminal = testTerminal({ env: { HOME: project.root, OPENAI_API_KEY: 'k' }, cwd: project.root });
    expect(await runProgram(['check'], terminal)).toBe(2);
    expect(terminal.written.progress).toContain('3 agents checked: 2 errors');
    const forPrograms = testTerminal({ env: { HOME: project.root, OPENAI_API_KEY: 'k' }, cwd: project.root });
    expect(await runProgram(['check', '--json'], forPrograms)).toBe(2);
    expect(JSON.parse(forPrograms.written.out)).toMatchObject({ agents: 3, errors: 2 });
  });

  it('or only at the files that are named, also outside the folder of agents', async () => {
    await using project = await temporaryProject({
      'agents/a.md': AGENT('agents: [nobody]'),
      'agents/b.md': AGENT('tools: [grep]'),
      'other/c.md': AGENT('agents: [a, ghost]'),
    });
    const terminal = testTerminal({ env: { HOME: project.root, OPENAI_API_KEY: 'k' }, cwd: project.root });
    expect(await runProgram(['check', 'agents/b.md', 'other/c.md'], terminal)).toBe(2);
    expect(lines(terminal.written.out)).toEqual([
      'agents/b.md:3:9: error: unknown tool "grep"',
      'other/c.md:3:13: error: there is no agent "ghost" (named as sub-agent)',
    ]);
    expect(terminal.written.progress).toContain('2 agents checked: 2 errors');
    expect(await runProgram(['check', 'agents/z.md'], terminal)).toBe(2);
    expect(terminal.written.progress).toContain('There is no file or folder agents/z.md');
  });
});

describe('a file outside the folder of agents', () => {
  it.each([
    ['a server that every run would refuse', AGENT(SERVER(`, env: { KEY: "${filled('TICKETS_KEY')}" }`))],
    ['a model that cannot be asked', '---\nmodel: opnai/gpt-5\n---\nHelp.\n'],
    ['a model that nobody has heard of', '---\nmodel: openai/gpt-fife\n---\nHelp.\n'],
    ['a budget without a price', '---\nmodel: openai/gpt-fife\nbudget: { usd: 1 }\n---\nHelp.\n'],
    ['a command that proves nothing', AGENT('verify: [npm test || true]')],
    ['a right that stands for nothing', AGENT('permissions: { shel: deny }')],
    ['a file that a group is given', AGENT('group: { mode: reflect, sharedContext: nowhere.md }')],
    ['a wrong key, which does not hide the rest', AGENT('modle: x\ntools: [grep]\nagents: [ghost]')],
    ['a server of another tool', AGENT('tools: ["mcp:open"]')],
  ])('is checked as one inside: %s', async (_what, text) => {
    const said = async (path: string): Promise<readonly [number, string]> => {
      const servers = { mcpServers: { open: { command: 'x' } } };
      await using project = await temporaryProject({ [path]: text, '.mcp.json': JSON.stringify(servers) });
      const terminal = testTerminal({ env: { HOME: project.root, OPENAI_API_KEY: 'k' }, cwd: project.root });
      const code = await runProgram(['check', path], terminal);
      return [code, terminal.written.all.replaceAll(path, 'FILE')];
    };
    const inside = await said('agents/one.md');
    expect(inside[1]).toMatch(/FILE:\d+:\d+: (error|warning)/);
    expect(await said('elsewhere/one.md')).toEqual(inside);
  });
});

describe('no message of check has the words of the schema', () => {
  const values = [null, 5, -1, 1.5, '', 'x y', [], [5], [null], {}, { x: 1 }, true, [{ agent: 5 }]];
  const raw = /Invalid|expected|received|zod|regex|Too (small|big)|undefined|\bnan\b|\[object|union|\(|must be ,/i;

  it.each(knownKeysAt([]))('for the key %s of an agent', async (key) => {
    const files = values.map((value, index) => [`agents/a${index}.md`, `---\n${JSON.stringify({ [key]: value })}\n---\nHelp.\n`]);
    const { out } = await check(Object.fromEntries(files));
    expect(out).toContain(': error: ');
    expect(out.split('\n').filter((line) => raw.test(line) && !allowed(line))).toEqual([]);
  });

  /** Sentences of our own that have one of these words. */
  const allowed = (line: string): boolean => /\(named as |There is no model|can be asked/.test(line);

  it('nor for any of the settings', async () => {
    const keys = keysAt(z.toJSONSchema(settingsSchema, { io: 'input', unrepresentable: 'any' }) as JsonObject, []);
    expect(keys.length).toBeGreaterThan(10);
    for (const key of keys)
      for (const value of values) {
        const { out } = await check({ 'troupe.yaml': JSON.stringify({ [key]: value }) });
        expect(out.split('\n').filter((line) => raw.test(line) && !allowed(line))).toEqual([]);
      }
  });
});
