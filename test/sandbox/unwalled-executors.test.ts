/** An executor without walls: what it changes of what is closed to it is noticed, told and never verified. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { userText } from '../../src/events/messages.ts';
import { openProject } from '../../src/project/open.ts';
import { sampleCommand } from '../support/executors/sample-command.ts';

async function worked(prompt: string) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-unwalled-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, 'agents'));
  execFileSync('git', ['init', '-q', root]);
  writeFileSync(join(root, 'troupe.yaml'), 'sandbox: off\nverify: ["test -e made.txt"]\n');
  writeFileSync(join(root, 'executors.yaml'), JSON.stringify({ executors: { mine: { command: sampleCommand() } } }));
  writeFileSync(join(root, 'agents', 'a.md'), '---\nexecutor: mine\n---\nYou work.\n');
  const project = await openProject({ cwd: root, root, env: { HOME: join(root, 'home'), PATH: process.env['PATH'] } });
  const started = await project.engine.start({ agent: 'a', input: userText(prompt), workspace: root });
  if (started.kind !== 'started') throw new Error(started.error.message);
  const end = await started.handle.done;
  const errors = await project.ledger.read({ session: started.handle.session, types: ['task.error', 'executor.session'] });
  await project.close();
  return { end, errors: errors.map(({ payload }) => payload as Readonly<Record<string, unknown>>) };
}

it('is verified when it keeps to its work', async () => {
  const { end, errors } = await worked('shell echo 1 > made.txt');
  expect(end).toMatchObject({ result: { status: 'completed', verification: { state: 'verified' } } });
  expect(errors).toEqual([expect.not.objectContaining({ sandbox: expect.anything() })]);
});

it('is not verified, and told of, when hooks or agents changed meanwhile, whatever else holds', async () => {
  const { end, errors } = await worked(
    'shell echo 1 > made.txt; echo evil > .git/hooks/pre-commit; echo "permissions: { shell: allow }" > agents/b.md',
  );
  const told = /files changed that are closed to it: .*agents\/b\.md.*\.git\/hooks\/pre-commit/;
  expect(end).toMatchObject({
    result: {
      status: 'completed_unverified',
      verification: { state: 'unverified', reasons: [expect.stringMatching(told)] },
    },
  });
  expect(errors).toContainEqual(
    expect.objectContaining({ code: 'protected_changed', category: 'protected', message: expect.stringMatching(told) }),
  );
});
