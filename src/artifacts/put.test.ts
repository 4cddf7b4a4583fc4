/** What is stored, and what is refused: names, files, secrets, previews, claims. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { givenRun } from '../../test/conformance/ledger/support.ts';
import { contentOf, storedIn, testArtifacts, testSink } from '../../test/support/artifacts/sink.ts';
import { openTestLedger, SECRET, testFolder, testIds } from '../../test/support/ledger/sqlite-folder.ts';
import { systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createRedactor } from '../base/secrets/redact.ts';
import { createArtifactArchive } from './archive.ts';
import type { PutArtifact } from './port.ts';
import { redactedParts } from './redacted-parts.ts';
import { cleanName, isArtifactRef, numberedName } from './refs.ts';
import { createRunArtifacts } from './run-artifacts.ts';

const ledger = openTestLedger({ path: join(testFolder(), 'ledger.db') });
afterAll(() => ledger.close());
const newRun = () => givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });

/** Over two lines, and known to the ledger too. */
const redact = createRedactor([{ name: 'TEST_PASSWORD', value: SECRET }]).text;
const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const fromBytes = (bytes: string | Uint8Array, more: Partial<PutArtifact> = {}): PutArtifact => ({
  ...{ type: 'doc', name: 'notes.txt', generatedBy: 'a test', source: { kind: 'bytes', bytes } },
  ...more,
});
const fromFile = (root: string, path: string): PutArtifact => fromBytes('', { source: { kind: 'file', root, path } });

describe('a name', () => {
  it('is part of a reference whatever was asked for, and bounded', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400, unit: 'binary' }), fc.integer({ min: 1, max: 9_999 }), (wanted, number) => {
        const name = numberedName(cleanName(wanted), number);
        expect(isArtifactRef(`artifact://docs/${name}`)).toBe(true);
        expect(name.length).toBeLessThanOrEqual(limits.artifactNameCharacters + 30);
      }),
    );
  });

  it.each([
    ['../../etc/passwd', 'etc-passwd'],
    ['..', 'artifact'],
    ['', 'artifact'],
    ['a\0b.txt', 'a-b.txt'],
    ['go test.txt', 'go-test.txt'],
  ])('%j becomes %s', (wanted, name) => {
    expect(cleanName(wanted)).toBe(name);
  });
});

describe('a file', () => {
  const folder = testFolder();
  mkdirSync(join(folder, 'work/inner'), { recursive: true });
  const work = join(folder, 'work');
  writeFileSync(join(folder, 'outside.txt'), 'not yours');
  writeFileSync(join(work, 'inside.txt'), 'yours');
  symlinkSync(join(folder, 'outside.txt'), join(work, 'out'));
  symlinkSync(folder, join(work, 'up'));
  symlinkSync('inside.txt', join(work, 'in'));
  symlinkSync('loop', join(work, 'loop'));
  symlinkSync('/dev/zero', join(work, 'zero'));
  execFileSync('mkfifo', [join(work, 'pipe')]);
  writeFileSync(join(work, 'huge'), '');
  truncateSync(join(work, 'huge'), limits.artifactBytes + 1);

  it.each([
    ['../outside.txt', 'artifact_outside'],
    ['/etc/passwd', 'artifact_outside'],
    ['out', 'artifact_outside'],
    ['up/outside.txt', 'artifact_outside'],
    ['zero', 'artifact_outside'],
    ['inner/../../outside.txt', 'artifact_outside'],
    ['a\0b', 'artifact_outside'],
    ['', 'artifact_outside'],
    ['loop', 'artifact_outside'],
    ['.', 'artifact_outside'],
    ['inner', 'artifact_not_a_file'],
    ['pipe', 'artifact_not_a_file'],
    ['none.txt', 'artifact_missing'],
    ['inside.txt/more', 'artifact_missing'],
    ['huge', 'artifact_too_large'],
  ])('at %j is refused: %s', async (path, code) => {
    const writer = await newRun();
    const put = await (await testArtifacts(writer)).put('file', fromFile(work, path));
    expect(put).toMatchObject({ ok: false, error: { code } });
    expect(await storedIn(ledger, writer)).toEqual([]);
  });

  it('behind a link that stays inside is stored', async () => {
    const put = await (await testArtifacts(await newRun())).put('file', fromFile(work, 'in'));
    expect(put).toMatchObject({ ok: true, value: { checksum: `sha256:${sha256('yours')}`, path: 'in' } });
  });

  it('that changes each time it is read is refused, and one that comes to rest is stored as it then is', async () => {
    const path = join(work, 'busy.txt');
    for (const [changes, ok] of [
      [limits.artifactReads, false],
      [limits.artifactReads - 1, true],
    ] as const) {
      writeFileSync(path, 'begun');
      let left = changes;
      const sink = await testSink(await newRun(), (text) => {
        if (left > 0) appendFileSync(path, ' more');
        left -= 1;
        return text;
      });
      const put = await createRunArtifacts(sink, undefined).put('file', fromFile(work, 'busy.txt'));
      expect(put.ok ? put.value.checksum : put.error.code).toBe(ok ? `sha256:${sha256('begun more more')}` : 'artifact_changing');
    }
  });
});

describe('a secret', () => {
  it('is taken out of a text, wherever parts are cut, and nothing else changes', async () => {
    const piece = fc.constantFrom(SECRET, 'plain words\n', 'ü🎭', '\n', 'correct "horse"', 'battery', 'x'.repeat(40));
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 50 }), async (pieces, size) => {
        const whole = Buffer.from(pieces.join(''));
        async function* raw() {
          for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
        }
        const parts: Uint8Array[] = [];
        for await (const part of redactedParts(raw(), redact, 128)) if (part.kind === 'part') parts.push(part.bytes);
        expect(Buffer.concat(parts).toString()).toBe(redact(whole.toString()));
      }),
    );
  });

  it('is not in the bytes nor in the preview; its exact text is for whoever works on with it', async () => {
    const writer = await newRun();
    // The cut of a preview made before redacting would go through the secret.
    const text = `${'x'.repeat(limits.artifactPreviewBytes - SECRET.length - 40)}\n${SECRET}\n${'y\n'.repeat(5_000)}`;
    const put = await (await testArtifacts(writer, redact)).put('patch', fromBytes(text, { type: 'patch', exact: true }));
    expect(put).toMatchObject({ ok: true, value: { redacted: true } });
    const all = await storedIn(ledger, writer);
    expect(all).toHaveLength(2);
    for (const artifact of all) {
      const bytes = await contentOf(ledger, artifact);
      expect(artifact.checksum).toBe(`sha256:${sha256(bytes)}`);
      expect(bytes.toString()).not.toMatch(/horse|battery/);
    }
    const [preview, patch] = all;
    expect(preview?.bytes).toBeLessThanOrEqual(limits.artifactPreviewBytes);
    expect(patch?.preview_ref).toBe(preview?.ref);
    const archive = createArtifactArchive(ledger, systemClock);
    expect(patch && (await archive.exactText(patch))).toEqual({ ok: true, value: text });
    expect(JSON.stringify(await ledger.read({ session: writer.session }))).not.toMatch(/horse|battery/);
  });

  it('in a binary file makes it refused, also across parts', async () => {
    const writer = await newRun();
    const padding = Buffer.alloc(limits.artifactPartBytes - 5, 0);
    for (const bytes of [
      Buffer.concat([Buffer.from([0, 255]), Buffer.from(SECRET)]),
      Buffer.concat([padding, Buffer.from(SECRET)]),
    ]) {
      const put = await (await testArtifacts(writer, redact)).put(`binary/${bytes.length}`, fromBytes(bytes));
      expect(put).toMatchObject({ ok: false, error: { code: 'artifact_secret' } });
    }
    expect(await storedIn(ledger, writer)).toEqual([]);
  });
});

describe('what is declared', () => {
  it('is stored with our checksum, and what is not so is flagged', async () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'report.txt'), 'two tests failed');
    writeFileSync(join(folder, 'honest.txt'), 'honest');
    const artifacts = await testArtifacts(await newRun());
    const declared = await artifacts.declare('declared', folder, [
      { type: 'test_report', path: 'report.txt', checksum: `sha256:${sha256('all tests passed')}` },
      { type: 'doc', path: 'honest.txt', checksum: `SHA256:${sha256('honest').toUpperCase()}` },
      { type: 'doc', path: '../../etc/passwd' },
    ]);
    expect(declared.stored.map(({ checksum }) => checksum)).toEqual(
      ['two tests failed', 'honest'].map((text) => `sha256:${sha256(text)}`),
    );
    expect(declared.flagged.map(({ path }) => path)).toEqual(['report.txt', '../../etc/passwd']);
    expect(declared.flagged[0]).toMatchObject({ found: `sha256:${sha256('two tests failed')}` });
  });
});
