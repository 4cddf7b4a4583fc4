import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { sampleCommand } from '../../../test/support/executors/sample-command.ts';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import { runProgram } from '../program/program.ts';

type Files = Readonly<Record<string, string>>;

async function called(files: Files, env: Files, ...args: readonly string[]) {
  await using project = await temporaryProject(files);
  const terminal = testTerminal({
    env: { HOME: `${project.root}/home`, PATH: process.env['PATH'], TROUPE_SANDBOX: 'off', ...env },
  });
  const code = await runProgram(['-C', project.root, ...args], terminal);
  // Commands are advised as this one was called.
  return { code, out: terminal.written.out.replaceAll(` -C ${project.root}`, '') };
}

async function check(files: Files, env: Files = {}) {
  const { code, out } = await called(files, { OPENAI_API_KEY: 'k', ...env }, 'check');
  return { code, lines: out.split('\n').filter((line) => line !== '') };
}

const CODER = (more: string): string => `---\ndescription: A\n${more}\n---\nWork.\n`;
const LEAD = (more: string): string => `---\nname: lead\nmodel: openai/gpt-5\narchitect: { ${more} }\n---\nLead.\n`;

describe('check looks into executors.yaml', () => {
  it('and finds all that is wrong there and with the executors that agents name, in one pass', async () => {
    const { code, lines } = await check({
      'executors.yaml': 'executors:\n  mine:\n    comand: [x]\n  lost: { title: Lost }\n  other: { like: codx }\n',
      'agents/a.md': CODER('executor: mien'),
      'agents/b.md': CODER('executor: mine'),
      'agents/lead.md': LEAD('executor: claude-cod, fallbackExecutors: [executor:gemni]'),
    });
    expect(code).toBe(2);
    expect(lines).toEqual([
      'agents/a.md:3:11: error: there is no executor "mien"',
      '  fix: Did you mean "mine"?',
      'agents/lead.md:4:24: error: there is no agent and no executor "claude-cod" (named as executor)',
      '  fix: Did you mean "claude-code"?',
      'agents/lead.md:4:56: error: there is no executor "gemni"',
      '  fix: Did you mean "gemini"?',
      'executors.yaml:3:5: error: unknown key "comand" in "executors.mine"',
      '  fix: Did you mean "command"?',
      'executors.yaml:4:3: error: the executor lost has neither a command nor an address',
      expect.stringMatching(
        /^executors.yaml:5:3: error: the executor other is like codx, which nobody knows. Did you mean "codex"/,
      ),
    ]);
  });

  it('says of a file that is no YAML where, and holds nothing against agents that it may have named', async () => {
    const { code, lines } = await check({
      'executors.yaml': 'executors:\n  mine: { command: [x]\n',
      'agents/a.md': CODER('executor: mine'),
    });
    expect(code).toBe(2);
    expect(lines.filter((line) => !line.startsWith('  fix'))).toEqual([
      expect.stringMatching(/^executors.yaml:\d+:\d+: error: /),
    ]);
  });

  it('and warns of what is not here: a program, a variable, a model that cannot be chosen', async () => {
    const variable = `\${NO_SUCH_VARIABLE}`;
    const files = {
      'executors.yaml': `executors:\n  mine:\n    command: [no-such-agent]\n    env: { AT: "${variable}" }\n    keys: [MY_KEY]\n`,
      'agents/a.md': CODER('executor: mine'),
      'agents/b.md': CODER('executor: { name: gemini, model: pro }'),
      'agents/lead.md': LEAD('executor: mine, fallbackExecutors: [builtin]'),
    };
    const { code, lines } = await check(files);
    expect(code).toBe(0);
    expect(lines).toEqual([
      'agents/a.md:3:11: warning: mine is not installed: there is no no-such-agent',
      '  fix: See: troupe executors probe mine',
      'agents/b.md:3:11: warning: Gemini CLI is not installed: there is no gemini',
      expect.stringContaining('fix: Install it: npm install -g'),
      'agents/b.md:3:34: warning: Gemini CLI cannot be told its model ("pro")',
      expect.stringContaining('fix: Leave the key out'),
      'agents/lead.md:4:24: warning: mine is not installed: there is no no-such-agent. Left are builtin',
      '  fix: See: troupe executors probe mine',
      expect.stringContaining(
        'executors.yaml:4:16: warning: the executor mine needs the variable NO_SUCH_VARIABLE, which is set neither',
      ),
      '  fix: Set NO_SUCH_VARIABLE, or take it out.',
      'executors.yaml:5:11: warning: the executor mine gets MY_KEY from your environment, which is not set here or in .env',
      expect.stringContaining('fix: Set what it needs'),
    ]);
    const set = await check({ ...files, '.env': 'MY_KEY=k\n' }, { NO_SUCH_VARIABLE: 'x' });
    expect(set.lines.filter((line) => line.startsWith('executors.yaml'))).toEqual([]);
  });
});

describe('doctor tries the executors that agents name', () => {
  const doctor = async (files: Files, ...more: readonly string[]) => {
    const { code, out } = await called(files, {}, 'doctor', '--json', ...more);
    const { findings } = JSON.parse(out) as { findings: readonly { readonly about: string }[] };
    return { code, findings: findings.filter(({ about }) => about.startsWith('executor')) };
  };
  const gone = { command: ['no-such-agent'], install: 'get it' };
  const OUTSIDE = ', runs without walls: it was switched off (sandbox: off)';
  const silent = { title: 'Silent', command: ['false'] };
  const agents = {
    'agents/a.md': CODER('executor: sample'),
    'agents/lead.md': LEAD('executor: gone, fallbackExecutors: [sample, silent]'),
  };

  it('all of them at once, and says what is missing', async () => {
    const executors = { sample: { title: 'Sample', command: sampleCommand() }, gone, silent };
    const { findings } = await doctor({ ...agents, 'executors.yaml': JSON.stringify({ executors }) });
    expect(findings).toEqual([
      {
        ...{ about: 'executor sample', state: 'good' },
        text: `Sample 9.8.7 starts and answers${OUTSIDE} (for the agent a and 1 other)`,
      },
      {
        ...{ about: 'executor gone', state: 'note', fix: 'Install it: get it' },
        text: 'gone is not installed: there is no no-such-agent; others in the list can do its work (for the agent lead)',
      },
      {
        ...{ about: 'executor silent', state: 'note' },
        text: expect.stringMatching(/^Silent .*; others in the list can do its work \(for the agent lead\)$/),
      },
    ]);
  });

  it('starts none of them offline, and one that nobody can stand in for is broken', async () => {
    const executors = { sample: { command: ['no-such-agent'] }, gone, silent };
    const { code, findings } = await doctor({ ...agents, 'executors.yaml': JSON.stringify({ executors }) }, '--offline');
    expect(code).toBe(1);
    expect(findings.map((one) => JSON.stringify(one))).toEqual([
      expect.stringMatching(/executor sample","state":"broken"/),
      expect.stringMatching(/executor gone","state":"note"/),
      expect.stringMatching(/executor silent","state":"good","text":"Silent is installed, not started because of --offline/),
    ]);
  });

  it('says where a broken file is wrong, each with its fix', async () => {
    const { code, findings } = await doctor(
      { ...agents, 'executors.yaml': 'executors:\n  gone: { comand: [x] }\n' },
      '--offline',
    );
    expect(code).toBe(1);
    expect(findings).toEqual([
      {
        ...{ about: 'executors (executors.yaml:2:11)', state: 'broken', fix: 'Did you mean "command"?' },
        text: expect.stringContaining('unknown key "comand"'),
      },
    ]);
  });
});
