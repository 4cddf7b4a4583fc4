/** Collecting beside others, in processes of their own: one that reads meanwhile, and one that is killed in the middle. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { appendOrFail, givenRun } from '../../test/conformance/ledger/support.ts';
import { contentOf, storedIn, testArtifacts } from '../../test/support/artifacts/sink.ts';
import { openTestLedger, testFolder, testIds } from '../../test/support/ledger/sqlite-folder.ts';
import { limits } from '../base/limits.ts';

const MAIN = fileURLToPath(new URL('../../test/support/artifacts/gc-main.ts', import.meta.url));
const COUNT = 30;
const LARGE = limits.payloadInlineBytes + 1;

async function ledgerWithArtifacts() {
  const path = join(testFolder(), 'ledger.db');
  const ledger = openTestLedger({ path });
  const writer = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
  const artifacts = await testArtifacts(writer);
  for (let index = 0; index < COUNT; index += 1) {
    const bytes = `${index} `.repeat(LARGE);
    for (const type of ['patch', 'log_bundle'] as const) {
      const source = { kind: 'bytes', bytes: `${type} ${bytes}` } as const;
      await artifacts.put(`${type}/${index}`, { type, name: 'x-#', generatedBy: 'a test', source, noPreview: true });
    }
  }
  await appendOrFail(writer, [writer.ending()]);
  await ledger.release(writer.fence);
  return { path, ledger, writer, later: String(writer.at + 60_000) };
}

function started(...args: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, ended: once(child, 'exit'), line: async () => String((await lines.next()).value) };
}

const filesIn = (path: string): number =>
  readdirSync(`${path}-payloads`, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;

it('whoever reads meanwhile reads what is kept whole, and of what goes is told so', async () => {
  const { path, ledger, later } = await ledgerWithArtifacts();
  const reader = started('read', path, later);
  expect(await reader.line()).toBe('begins');
  const collector = started('collect', path, later);
  await collector.ended;
  reader.child.stdin.write('stop\n');
  const told = JSON.parse(await reader.line()) as { rounds: number; patches: number; wrong: readonly string[] };
  expect(told.wrong).toEqual([]);
  expect(told.patches).toBe(told.rounds * COUNT);
  expect(filesIn(path)).toBe(COUNT);
  expect((await ledger.verify()).kind).toBe('sound');
  await ledger.close();
});

it('killed in the middle, nothing that is kept is lost, and the next one removes the rest', async () => {
  const { path, ledger, writer, later } = await ledgerWithArtifacts();
  const killed = started('collect', path, later);
  const watcher = watch(`${path}-payloads`, { recursive: true }, () => killed.child.kill('SIGKILL'));
  await killed.ended;
  watcher.close();
  const again = started('collect', path, later);
  await again.ended;
  expect((await ledger.verify()).kind).toBe('sound');
  for (const artifact of await storedIn(ledger, writer)) {
    expect(artifact.collected).toBe(artifact.type === 'log_bundle');
    if (!artifact.collected) expect((await contentOf(ledger, artifact)).length).toBe(artifact.bytes);
  }
  // Files whose removal was cut off are leftovers, which go an hour later.
  await ledger.gc({ olderThanMs: Number.MAX_SAFE_INTEGER, now: Number.MAX_SAFE_INTEGER / 2, dryRun: false });
  expect(filesIn(path)).toBe(COUNT);
  await ledger.close();
});
