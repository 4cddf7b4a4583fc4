// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is how agent files take others in.
/** `--watch`: real processes, files that are really changed, and a model that counts how often it is asked. */
import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTestProject, type Running, type TestProject } from './support-project.ts';

/** As many editors do it: another file takes the place of the old one. */
async function save(project: TestProject, path: string, content: string): Promise<void> {
  const place = join(project.folder, path);
  await mkdir(dirname(place), { recursive: true });
  await writeFile(`${place}.tmp`, content);
  await rename(`${place}.tmp`, place);
}

const agent = (more: string): string => `---\nname: helper\nisolation: inline\n---\nYou help. ${more}\n`;
const watching = (watch: Running, times: number): Promise<void> => watch.saysTimes('; Ctrl-C ends', times);

describe('check --watch', () => {
  it('checks again when settings, agents, or what they take in change, and ends with the last code', async () => {
    await using project = await createTestProject('', agent(''));
    const watch = project.start(['check', '--watch']);
    await watching(watch, 1);
    await save(project, 'agents/helper.md', agent('${include:../parts/tone.md}'));
    await watch.says('1 error');
    await watching(watch, 2);
    // The folder is new, too.
    await save(project, 'parts/tone.md', 'Be kind.\n');
    await watching(watch, 3);
    await save(project, 'agents/new/second.md', '---\nname: second\ntools: [nonsense]\n---\nHelp.\n');
    await watching(watch, 4);
    await rm(join(project.folder, 'agents/new'), { recursive: true });
    await watching(watch, 5);
    await save(project, 'troupe.yaml', 'permissions: { shel: deny }\n');
    await watching(watch, 6);
    watch.kill('SIGINT');
    const ended = await watch.ended;
    const counts = [...ended.err.matchAll(/checked: (\d) error/g)].map(([, count]) => count);
    expect([ended.code, counts]).toEqual([2, ['0', '1', '0', '1', '0', '1']]);
    expect(ended.out).toContain('unknown tool "nonsense"');
  });

  it('prints no JSON', async () => {
    await using project = await createTestProject('', agent(''));
    expect(await project.look('check', '--watch', '--json')).toMatchObject({ code: 2 });
  });
});

describe('run --watch', () => {
  it('runs again when a file of its agent changes, with what it says then, as a conversation of its own', async () => {
    await using project = await createTestProject('', agent('One.'));
    await project.write('agents/other.md', '---\nname: other\n---\nOther.\n');
    const server = await project.serve({ text: 'Done.' });
    const watch = project.start(['run', 'helper', 'Go.', '--watch']);
    await watching(watch, 1);
    // Neither another agent nor a new time makes a run.
    await save(project, 'agents/other.md', '---\nname: other\n---\nAnother.\n');
    await utimes(join(project.folder, 'agents/helper.md'), 1, 1);
    await save(project, 'agents/helper.md', 'no frontmatter\n---\nname: [');
    await watch.says('cannot run');
    await watching(watch, 2);
    await save(project, 'agents/helper.md', agent('Two.'));
    await watching(watch, 3);
    watch.kill('SIGINT');
    expect(await watch.ended).toMatchObject({ code: 0, out: 'Done.\nDone.\n' });
    const asked = server.requests.map(({ body }) => JSON.stringify(body));
    expect(asked).toHaveLength(2);
    expect([asked[0]?.includes('One.'), asked[1]?.includes('Two.'), asked[1]?.includes('Done.')]).toEqual([true, true, false]);
    expect((await project.look('sessions')).out.match(/helper/g)).toHaveLength(2);
  });

  it('a change while it runs waits for its end, and limits are for all runs together', async () => {
    await using project = await createTestProject('', agent('One.'));
    let answer = (): void => undefined;
    const first = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const server = await project.serve(
      async () => {
        await first;
        return { text: 'First.' };
      },
      { text: 'Second.' },
    );
    const watch = project.start(['run', 'helper', 'Go.', '--watch', '--budget-calls', '2']);
    await expect.poll(() => server.requests.length).toBe(1);
    await save(project, 'agents/helper.md', agent('Two.'));
    answer();
    const ended = await watch.ended;
    expect(ended).toMatchObject({ code: 0, out: 'First.\nSecond.\n' });
    expect(ended.err).toContain('what --budget-calls gave for all runs is used up');
    expect(server.requests).toHaveLength(2);
  });

  it.each([[['--continue']], [['--session', 'ses_x']], [['--json']]])('is refused beside %j', async (more) => {
    await using project = await createTestProject('', agent(''));
    expect(await project.look('run', 'helper', 'Go.', '--watch', ...more)).toMatchObject({ code: 2 });
  });
});
