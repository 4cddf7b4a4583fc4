/** Manifests as YAML, byte for byte, and those that others write. */
import { expect, it } from 'vitest';
import type { Payloads } from '../events/catalogue.ts';
import { declaredIn, manifestYaml } from './manifest.ts';

const YAML = `manifest_id: artifact-manifest-001
session_id: session-xxx
generated_at: 2026-01-20T12:34:56Z
environment_fingerprint: env://hash/1234
artifacts:
  - type: patch
    ref: artifact://patches/patch-0001.diff
    generated_by: "git diff"
    checksum: sha256:abc
    preview_ref: artifact://previews/patch-0001.txt
  - type: test_report
    ref: artifact://reports/go-test.txt
    generated_by: "go test ./..."
    checksum: sha256:def
  - type: build_output
    ref: artifact://build/cli-binary.tar
    generated_by: "make build"
    checksum: sha256:123
`;

it('a manifest is written as the page of its format has it', () => {
  const manifest: Payloads['artifact.manifest'] = {
    items: [],
    manifest_id: 'artifact-manifest-001',
    session_id: 'session-xxx',
    generated_at: '2026-01-20T12:34:56Z',
    environment_fingerprint: 'env://hash/1234',
    artifacts: [
      {
        type: 'patch',
        ...{ ref: 'artifact://patches/patch-0001.diff', generated_by: 'git diff', checksum: 'sha256:abc' },
        preview_ref: 'artifact://previews/patch-0001.txt',
      },
      {
        type: 'test_report',
        ...{ ref: 'artifact://reports/go-test.txt', generated_by: 'go test ./...', checksum: 'sha256:def' },
      },
      { type: 'build_output', ref: 'artifact://build/cli-binary.tar', generated_by: 'make build', checksum: 'sha256:123' },
    ],
  };
  expect(manifestYaml(manifest)).toBe(YAML);
});

it('what is not plain is quoted, so that it stays what it is', async () => {
  const strange = 'a: b\n- c "d" # e';
  const entry = { type: 'doc', ref: 'artifact://docs/x.md', generated_by: strange, checksum: strange } as const;
  const { parse } = await import('yaml');
  expect(parse(manifestYaml({ items: [], manifest_id: '- 1', artifacts: [{ ...entry }] }))).toEqual({
    manifest_id: '- 1',
    artifacts: [entry],
  });
});

it.each([
  ['a block of YAML', `Done.\n\n\`\`\`yaml\n${YAML}\`\`\`\nBye.`],
  ['the whole text', YAML],
  [
    'JSON',
    '{"artifacts":[{"type":"patch","path":"patches/patch-0001.diff"},{"type":"doc","path":"x"},{"type":"doc","path":"y"}]}',
  ],
])('declared files are found in %s', async (_what, text) => {
  const declared = await declaredIn(text);
  expect(declared?.files).toHaveLength(3);
  expect(declared?.flagged).toEqual([]);
  expect(declared?.files[0]).toMatchObject({ type: 'patch', path: 'patches/patch-0001.diff' });
});

it.each([['artifacts: none of it'], ['I made artifacts.'], ['artifacts: [*a]']])('nothing is declared by %j', async (text) => {
  expect(await declaredIn(text)).toBeUndefined();
});

it('an entry that cannot be read is flagged, and the others are read', async () => {
  const text = 'artifacts:\n  - {type: strange, path: a.txt}\n  - {type: doc, path: b.txt}\n  - {type: doc}\n  - 5\n';
  const declared = await declaredIn(text);
  expect(declared?.files).toMatchObject([{ type: 'doc', path: 'b.txt' }]);
  expect(declared?.flagged).toEqual([
    { path: 'a.txt', why: expect.stringContaining('(type)') },
    { path: 'artifacts[2]', why: 'it names no file' },
    { path: 'artifacts[3]', why: expect.stringContaining('cannot be read') },
  ]);
});
