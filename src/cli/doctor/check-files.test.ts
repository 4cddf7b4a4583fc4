import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { testTerminal } from '../../../test/support/test-terminal.ts';
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
