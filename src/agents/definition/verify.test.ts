import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { checkProject } from '../check-project.ts';
import { formatDiagnostic } from '../text/diagnostics.ts';

async function check(keys: string, ...permissions: readonly Record<string, 'allow' | 'ask' | 'deny'>[]) {
  await using project = await temporaryProject({ 'agents/a.md': `---\n${keys}\n---\nx` });
  const { agents, diagnostics } = await checkProject({ projectRoot: project.root, permissions });
  return { verify: agents[0]?.definition.verify, printed: diagnostics.map(formatDiagnostic) };
}

describe('verify in an agent file', () => {
  it('is a list of commands, or a map with more', async () => {
    expect(await check('verify: [npm test, npm run lint]')).toEqual({
      verify: { commands: ['npm test', 'npm run lint'] },
      printed: [],
    });
    const long = 'verify:\n  commands: [npm test]\n  timeout: 90s\n  retries: 2\n  testsMayChange: true';
    expect(await check(long)).toEqual({
      verify: { commands: ['npm test'], timeout: 90_000, retries: 2, testsMayChange: true },
      printed: [],
    });
  });

  it.each([
    ['verify: npm test', 'agents/a.md:2:9: error: "verify" must be a list or a map'],
    ['verify: []', 'agents/a.md:2:9: error: "verify" '],
    ['verify:\n  command: [npm test]', 'agents/a.md:3:3: error: unknown key "command" in "verify"'],
    ['verify:\n  commands: [npm test]\n  retries: 50', 'agents/a.md:4:12: error: "verify.retries" '],
    ['verify:\n  - npm test\n  - "  "', 'agents/a.md:4:5: error: '],
    ['verify:\n  timeout: 1m', 'agents/a.md:2:1: error: "verify" needs the key "commands"'],
  ])('is checked: %j', async (keys, message) => {
    expect((await check(keys)).printed.join('\n')).toContain(message);
  });

  it('is refused where the agent may run no commands', async () => {
    const { printed } = await check('tools: [read]\npermissions: { shell: deny }\nverify: [npm test]');
    expect(printed).toEqual([
      'agents/a.md:4:1: error: "verify" runs commands, and `permissions` in this file deny the shell\n' +
        '  fix: Allow the shell (`shell: ask` or `allow`), or put `verify` into troupe.yaml.',
    ]);
    expect((await check('verify: [npm test]', { '*': 'deny' })).printed[0]).toContain(
      '`permissions` in troupe.yaml deny the shell',
    );
    expect((await check('verify: [npm test]', { shell: 'ask' })).printed).toEqual([]);
  });
});
