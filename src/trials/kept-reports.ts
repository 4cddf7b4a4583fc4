/** Reports of tests, kept beside the ledger: the newest are what the next one is compared with. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { type KeptReport, keptReport, type Tested, type TestReport } from './report.ts';

const FOLDER = 'trials';

/**
 * The newest one, with the last result of every test that it does not have: a part of the tests may have been run since. One that
 * cannot be read is as if it were not there.
 */
export async function lastReport(home: string): Promise<KeptReport | undefined> {
  const kept = await namesIn(home);
  let newest: KeptReport | undefined;
  const tests: Tested[] = [];
  for (const name of kept.toReversed()) {
    const text = await readFile(join(home, FOLDER, name), 'utf8').catch(() => '');
    const parsed = parseJson(text);
    const read = keptReport.safeParse(parsed.ok ? parsed.value : undefined);
    if (!read.success) continue;
    newest ??= read.data;
    tests.push(...read.data.report.tests.filter((one) => !tests.some(({ name: known }) => known === one.name)));
  }
  return newest === undefined ? undefined : { ...newest, report: { ...newest.report, tests } };
}

export async function keepReport(home: string, report: TestReport, nowMs: number): Promise<void> {
  const folder = join(home, FOLDER);
  await mkdir(folder, { recursive: true });
  const at = new Date(nowMs).toISOString();
  const path = join(folder, `${at.replaceAll(/[:.]/g, '-')}.json`);
  const kept: KeptReport = { version: 1, at, report };
  await writeFile(`${path}.new`, JSON.stringify(kept));
  await rename(`${path}.new`, path);
  const all = await namesIn(home);
  for (const name of all.slice(0, Math.max(0, all.length - limits.keptReports))) await rm(join(folder, name), { force: true });
}

async function namesIn(home: string): Promise<readonly string[]> {
  const names = await readdir(join(home, FOLDER)).catch(() => []);
  return names.filter((name) => name.endsWith('.json')).toSorted();
}
