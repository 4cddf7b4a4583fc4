import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { userText } from '../../events/messages.ts';
import { openProject } from '../open.ts';

it('reaches no executor outside of the sandbox that the settings demand', async () => {
  const root = mkdtempSync(join(tmpdir(), 'troupe-walls-demanded-'));
  writeFileSync(join(root, 'troupe.yaml'), 'sandbox: on\n');
  writeFileSync(join(root, 'executors.yaml'), 'executors:\n  mine: { address: "127.0.0.1:9" }\n');
  const project = await openProject({ cwd: root, root, env: { HOME: root, PATH: process.env['PATH'] } });
  const started = await project.engine.start({ agent: 'executor:mine', input: userText('go'), workspace: root });
  if (started.kind !== 'started') throw new Error(started.error.message);
  const end = await started.handle.done;
  expect(JSON.stringify(end)).toContain('sandbox: on');
  await project.close();
  rmSync(root, { recursive: true, force: true });
});
