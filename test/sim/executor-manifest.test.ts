/** Manifests of executors: what they declare is stored and checked by us, what they leave out is said, whoever dies meanwhile. */
import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { executing } from '../support/executors/brain-executors.ts';
import { type KeptPlay, live, newPlay, payloadsOf } from '../support/executors/executor-play.ts';
import { says } from '../support/world.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const declaring = (report: string): KeptPlay => {
  const kept = newPlay({ agents: [executing('coder')], brain: () => says(report) });
  writeFileSync(join(kept.workspace, 'honest.txt'), 'honest');
  writeFileSync(join(kept.workspace, 'lie.txt'), 'something else');
  return kept;
};

const DECLARED = `Done.

\`\`\`yaml
manifest_id: mine
artifacts:
  - type: doc
    ref: honest.txt
    generated_by: "me"
    checksum: sha256:${sha256('honest')}
  - type: test_report
    path: lie.txt
    checksum: sha256:${sha256('all tests passed')}
  - type: build_output
    path: ../outside.bin
\`\`\`
`;

describe('an executor', () => {
  it('that declares nothing gets its manifest from us, which says so', async () => {
    const kept = declaring('Done.');
    await live(kept);
    const [manifest] = await payloadsOf(kept, 'artifact.manifest');
    expect(manifest).toMatchObject({ missing_executor_manifest: true, artifacts: [] });
  });

  it('is believed in nothing: its files have our checksums, and each lie is flagged', async () => {
    const kept = declaring(DECLARED);
    await live(kept);
    const [manifest] = await payloadsOf(kept, 'artifact.manifest');
    expect(manifest?.missing_executor_manifest).toBeUndefined();
    expect(manifest?.artifacts).toMatchObject([
      { type: 'doc', ref: 'artifact://docs/honest.txt', generated_by: 'me', checksum: `sha256:${sha256('honest')}` },
      { type: 'test_report', ref: 'artifact://reports/lie.txt', checksum: `sha256:${sha256('something else')}` },
    ]);
    expect(manifest?.flagged?.map(({ path }) => path)).toEqual(['lie.txt', '../outside.bin']);
  });

  it('brings nothing to light that its agent may not read', async () => {
    const closed = ['.troupe/ledger.db', '.git/config', '.env', 'link.txt'];
    const entries = [...closed, 'honest.txt'].map((path) => `  - {type: doc, path: ${path}}`).join('\n');
    const coder = executing('coder', { permissions: { read: { '*': 'allow', '.env': 'deny' } } });
    const kept = newPlay({ agents: [coder], brain: () => says(`\`\`\`yaml\nartifacts:\n${entries}\n\`\`\``) });
    for (const folder of ['.troupe', '.git']) mkdirSync(join(kept.workspace, folder));
    for (const path of [...closed.slice(0, 3), 'honest.txt']) writeFileSync(join(kept.workspace, path), 'closed');
    symlinkSync('.git/config', join(kept.workspace, 'link.txt'));
    await live(kept);
    const [manifest] = await payloadsOf(kept, 'artifact.manifest');
    expect(manifest?.flagged?.map(({ path }) => path)).toEqual(closed);
    expect((await payloadsOf(kept, 'artifact.stored')).map(({ ref }) => ref)).toEqual(['artifact://docs/honest.txt']);
  });

  it('has one manifest and each artifact once, wherever our process dies', async () => {
    const whole = declaring(DECLARED);
    const { appends } = await live(whole);
    expect(appends.length).toBeGreaterThan(5);
    for (let last = 1; last < appends.length; last += 1) {
      const kept = declaring(DECLARED);
      await live(kept, last);
      await live(kept);
      const stored = await payloadsOf(kept, 'artifact.stored');
      expect({ last, refs: stored.map(({ ref }) => ref) }).toEqual({
        last,
        refs: ['artifact://docs/honest.txt', 'artifact://reports/lie.txt'],
      });
      expect(await payloadsOf(kept, 'artifact.manifest')).toHaveLength(1);
    }
  });
});
