/** `troupe measure`: what it says of right and wrong choices, and what it refuses; nobody but the router is ever asked. */
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { runProgram } from '../../src/cli/program/program.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { createTestProject, objectIn, type TestProject } from './support-project.ts';

const chooses = (contains: string, agentId: string, confidence: number, additionalAgents: readonly string[] = []) => ({
  when: { contains },
  text: JSON.stringify({
    ...{ agentId, confidence, reasoning: `${contains}?`, additionalAgents },
    agentInstructions: [agentId, ...additionalAgents].map((id) => ({ agentId: id, instruction: 'Do it.' })),
  }),
});

const CHOICES = [
  chooses('lamp', 'lights', 0.9),
  chooses('song', 'lights', 0.8),
  chooses('tune', 'lights', 0.8),
  chooses('party', 'music', 0.9, ['lights']),
  chooses('thing', 'music', 0.3),
  chooses('stuff', 'lights', 0.2),
  { text: 'No idea.' },
];

const REQUESTS = `
- { request: The lamp, agents: [lights] }
- { request: A song, agents: [music] }
- { request: A tune, agents: [music] }
- { request: A party, agents: [lights, music] }
- { request: That thing, clarify: true }
- { request: Some stuff, agents: [lights] }
- { request: Whatever, agents: [lights] }
`;

/** Each of a thousand lines stands for the one before it twice. */
const GROWS = Array.from({ length: 1_000 }, (_, at) =>
  at === 0 ? '- &a0 { request: Water, clarify: true }\n' : `- &a${at} [*a${at - 1}, *a${at - 1}]\n`,
).join('');

async function house(): Promise<TestProject> {
  const project = await createTestProject('model: scripted:replies.yaml\n');
  await project.write('agents/lights.md', '---\ndescription: Lights.\n---\nYou are lights.\n');
  await project.write('agents/music.md', '---\ndescription: Music.\n---\nYou are music.\n');
  await project.write(
    'agents/house.md',
    '---\ndispatch: { agents: [lights, music], maxAttempts: 1, cache: true }\n---\nYou choose.\n',
  );
  await project.write('replies.yaml', JSON.stringify({ agents: { house: CHOICES } }));
  await project.write('requests.yaml', REQUESTS);
  return project;
}

async function call(project: TestProject, ...args: readonly string[]) {
  const terminal = testTerminal({ env: project.env, cwd: project.folder });
  const code = await runProgram(args, terminal);
  return { code, out: terminal.written.out, err: terminal.written.progress };
}

describe('measure', () => {
  it('says what was right, what was taken for what, and what it cost, and starts nobody', async () => {
    await using project = await house();
    const { code, out, err } = await call(project, 'measure', 'house', 'requests.yaml');
    expect({ code, err: err.split('\n')[1] }).toEqual({ code: 0, err: '2/7 wrong A song' });
    expect(out).toMatch(/A song +music +lights +0\.8\n/);
    expect(out).toMatch(/Some stuff +lights +clarification \(lights\) +0\.2\n/);
    expect(out).toMatch(/Whatever +lights +fallback +0\n/);
    expect(out).toContain('2 times: music was taken for lights\n1 time: lights was taken for ');
    expect(out).toMatch(/accuracy +42\.9 % \(3 of 7\)\nbelow threshold +2\nfallbacks +1\n/);
    const [first] = JSON.parse((await call(project, 'ps', '--all', '--json')).out) as readonly { readonly run: string }[];
    const shown = await call(project, 'show', first?.run ?? '', '--json');
    expect(JSON.stringify(objectIn(shown.out))).not.toMatch(/"agent":"(lights|music)"/);
  });

  it('is exit code 1 below what is wanted, and JSON for programs', async () => {
    await using project = await house();
    const enough = await call(project, 'measure', 'house', 'requests.yaml', '--at-least', '0.4', '--json');
    expect(enough.code).toBe(0);
    expect(objectIn(enough.out)).toMatchObject({
      ...{ agent: 'house', requests: 7, right: 3, belowThreshold: 2, fallbacks: 1, total: { calls: 7 } },
      confusion: expect.arrayContaining([{ expected: 'music', chosen: 'lights', count: 2 }]),
    });
    expect((await call(project, 'measure', 'house', 'requests.yaml', '--at-least', '0.5')).code).toBe(1);
  });

  it.each([
    ['an agent that is not there', ['nobody', 'requests.yaml'], /There is no agent nobody/],
    ['an agent that does not choose', ['lights', 'requests.yaml'], /lights does not choose among agents/],
    ['a file that is not there', ['house', 'none.yaml'], /none\.yaml cannot be used: it cannot be read/],
    ['a file of something else', ['house', 'replies.yaml'], /replies\.yaml cannot be used: .*expected array/],
    ['somebody who cannot be chosen', ['house', 'strange.yaml'], /these cannot be chosen: garden/],
    ['more requests than may be', ['house', 'many.yaml'], /at most 1000 requests \(measuredRequests\)/],
    ['a file that is too long', ['house', 'long.yaml'], /4194305 bytes, and 4194304 are the limit \(measuredFileBytes\)/],
    ['a file that grows when it is read', ['house', 'grows.yaml'], /cannot be used: Excessive alias count/],
    ['a share that is none', ['house', 'requests.yaml', '--at-least', '2'], /"2" is not a share from 0 to 1/],
  ])('refuses %s', async (_name, args, message) => {
    await using project = await house();
    await project.write('strange.yaml', '- { request: Water, agents: [garden] }\n');
    await project.write('many.yaml', '- { request: Water, clarify: true }\n'.repeat(limits.measuredRequests + 1));
    await project.write('long.yaml', '#'.repeat(limits.measuredFileBytes + 1));
    await project.write('grows.yaml', GROWS);
    const { code, err } = await call(project, 'measure', ...args);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(message) });
  });
});
