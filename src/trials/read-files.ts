/** Files that somebody wrote to try agents with: found, read and checked. One that is broken keeps no other from being tried. */
import { readdir } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { z } from 'zod';
import { messageOf, TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { counted } from '../base/wording.ts';
import { readBounded } from '../models/scripted/script-file.ts';
import { frozenSchema, type KeptTest, TEST_VERSION, testSchema } from './test-file.ts';
import { isFolder } from './trial.ts';

export const TESTS_FOLDER = 'tests';

const ENDINGS: ReadonlySet<string> = new Set(['.yaml', '.yml']);

/** A file of YAML that must have this form. The failure is for a person. */
export async function readDescribed<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): Promise<Result<z.output<Schema>, string>> {
  const text = await readBounded(path, 'testFileBytes');
  if (!text.ok) return fail(`cannot be read: ${text.error}`);
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text.value, { version: '1.2' });
  const [problem] = document.errors;
  if (problem !== undefined) return fail(`is not YAML: ${problem.message}`);
  try {
    const parsed = schema.safeParse(document.toJS({ maxAliasCount: 100 }));
    return parsed.success ? ok(parsed.data) : fail(`is not right:\n${z.prettifyError(parsed.error)}`);
  } catch (error) {
    return fail(`is not right: ${messageOf(error)}`);
  }
}

/** A file of `tests/` that is no test, and why. */
export interface BrokenTest {
  readonly file: string;
  readonly why: string;
}

export interface FoundTests {
  readonly tests: readonly KeptTest[];
  readonly broken: readonly BrokenTest[];
}

/** The tests of a project, or those of these names. Throws when none of them can be used, or one is not there. */
export async function readTests(root: string, wanted: readonly string[] = []): Promise<FoundTests> {
  const folder = join(root, TESTS_FOLDER);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile() && isTest(entry.name)).map(({ name }) => name);
  if (files.length > limits.testFiles)
    throw unusable(`There are ${files.length} files in ${TESTS_FOLDER}/, and ${limits.testFiles} are the limit (testFiles)`);
  const missing = wanted.filter((name) => !files.some((file) => nameOf(file) === name));
  if (missing.length > 0)
    throw unusable(
      `There is no test ${missing.join(', ')}`,
      files.length === 0 ? 'Keep one: troupe test add <run>' : `There are: ${files.map(nameOf).toSorted().join(', ')}`,
    );
  const chosen = files.filter((file) => wanted.length === 0 || wanted.includes(nameOf(file))).toSorted();
  const doubled = chosen.map(nameOf).filter((name, index, all) => all.indexOf(name) !== index);
  if (doubled.length > 0) throw unusable(`Two files in ${TESTS_FOLDER}/ are called ${doubled.join(', ')}`);
  const read = await Promise.all(chosen.map(async (file) => ({ file, read: await readTest(folder, file) })));
  const broken = read.flatMap(({ file, read: one }) => (one.ok ? [] : [{ file: `${TESTS_FOLDER}/${file}`, why: one.error }]));
  const tests = read.flatMap(({ read: one }) => (one.ok ? [one.value] : []));
  if (broken.length > 0 && tests.length === 0) throw unusable(brokenText(broken), 'docs/trials.md shows what a test looks like.');
  return { tests, broken };
}

export const brokenText = (broken: readonly BrokenTest[]): string =>
  `${counted(broken.length, 'test')} cannot be used:\n${broken.map(({ file, why }) => `${file} ${why}`).join('\n')}`;

const nameOf = (file: string): string => basename(file, extname(file));

/** Tables of cases, and what tests are kept with, lie beside them. */
const BESIDE: ReadonlySet<string> = new Set(['.eval', '.frozen']);
const isTest = (file: string): boolean => ENDINGS.has(extname(file)) && !BESIDE.has(extname(nameOf(file)));

async function readTest(folder: string, file: string): Promise<Result<KeptTest, string>> {
  const path = join(folder, file);
  const any = await readDescribed(path, z.looseObject({ version: z.unknown().optional(), frozen: z.unknown().optional() }));
  if (!any.ok) return any;
  const { version, frozen } = any.value;
  if (typeof version === 'number' && version > TEST_VERSION)
    return fail('was written by a newer version of Troupe: try it with that one, or a newer one');
  const about = { name: nameOf(file), folder };
  if (frozen !== undefined) {
    const read = await readDescribed(path, frozenSchema);
    return read.ok ? ok({ ...about, agent: read.value.agent, frozen: read.value.frozen }) : read;
  }
  const read = await readDescribed(path, testSchema);
  if (!read.ok) return read;
  const { files } = read.value;
  if (files !== undefined && !(await isFolder(join(folder, files))))
    return fail(`is not right: There is no folder ${files} beside it (files)`);
  return ok({ ...about, test: read.value });
}

const unusable = (message: string, fix?: string): TroupeError => new TroupeError('usage', message, { fix });
