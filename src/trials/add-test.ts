/** A run kept as a test: what it was asked, and what was true of it, as a file to be read and sharpened by whoever keeps it. */
import { access, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { imageKind } from '../artifacts/image-kind.ts';
import { TroupeError } from '../base/errors.ts';
import { present } from '../base/present.ts';
import type { ImagePart } from '../events/messages.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import { type FilesKeeping, keepFiles } from './kept-files.ts';
import { type KeptRun, readKeptRun, requestKept } from './kept-run.ts';
import { TESTS_FOLDER } from './read-files.ts';
import { type SeenOfRun, seenOf } from './seen.ts';
import { isFolder } from './trial.ts';

export interface NewTest extends FilesKeeping {
  readonly root: string;
  readonly name: string;
  /** A folder for the workspace of its trials, from `tests/`; made of the workspace before the run where it is not there. */
  readonly files?: string | undefined;
}

export interface AddedTest {
  /** From the project's folder, the test first. */
  readonly files: readonly string[];
  /** What of the run the test does not hold. */
  readonly notes: readonly string[];
}

const NAME = /^[\w][\w.-]{0,99}$/u;
const TAKEN = /^add$|\.(?:eval|frozen)$/;
/** Twice what it took: a test is to fail when something runs away, not when a model takes a turn more. */
const ROOM = 2;

export async function addTest(ledger: Ledger, row: RunRow, wanted: NewTest): Promise<AddedTest> {
  const { root, name, files } = wanted;
  await requireName(root, name);
  requireRoot(row);
  const kept = await readKeptRun(ledger, row);
  if (kept.ended.payload.status === 'cancelled')
    throw new TroupeError('usage', `${row.run} was cancelled, and nobody is there to cancel a trial`, {
      fix: 'Keep another run, or this one with its answers: --frozen',
    });
  const { prompt, images, terms } = requestKept(kept);
  const seen = await seenOf(ledger, row.session, row.run);
  const folder = join(root, TESTS_FOLDER);
  await mkdir(folder, { recursive: true });
  const pictures = await Promise.all(images.map((image, index) => keepImage(folder, `${name}.${index + 1}`, image)));
  const given = await filesOf(ledger, kept, wanted);
  const { stringify } = await import('yaml');
  const { answers, approve } = kept;
  const text = stringify({
    agent: kept.started.payload.agent,
    prompt,
    ...(pictures.length === 0 ? {} : { images: pictures }),
    ...present({ files, ...terms }),
    ...(approve === false ? {} : { approve }),
    ...(answers.length === 0 ? {} : { answers }),
    trials: 1,
    checks: checksOf(kept, seen),
  });
  const path = join(TESTS_FOLDER, `${name}.yaml`);
  const head = `# Kept from ${row.run}. docs/trials.md says what else can be checked.\n`;
  await writeFile(join(root, path), `${head}${text}`, { flag: 'wx' });
  const others = [...pictures, ...given.made].map((one) => join(TESTS_FOLDER, one));
  return { files: [path, ...others], notes: [...kept.notes, ...given.notes, ...filesNote(wanted, seen)] };
}

export async function requireName(root: string, name: string): Promise<void> {
  if (!NAME.test(name) || TAKEN.test(name))
    throw new TroupeError('usage', `A test cannot be called ${JSON.stringify(name)}`, {
      fix: 'Use letters, digits and - : --name',
    });
  const isThere = await access(join(root, TESTS_FOLDER, `${name}.yaml`)).then(
    () => true,
    () => false,
  );
  if (isThere) throw new TroupeError('usage', `There is a test ${name} already`, { fix: 'Name another: --name' });
}

export function requireRoot({ run, parent }: RunRow): void {
  if (parent !== null)
    throw new TroupeError('usage', `${run} works for another run`, { fix: `Keep the whole: troupe test add ${parent}` });
}

function checksOf({ started, ended }: KeptRun, seen: SeenOfRun): Readonly<Record<string, unknown>> {
  const { status, verification } = ended.payload;
  const agents = [...seen.agents].filter((agent) => agent !== started.payload.agent).toSorted();
  return {
    status,
    ...(verification?.state === 'verified' ? { verification: 'verified' } : {}),
    ...(seen.tools.size === 0 ? {} : { called: [...seen.tools].toSorted() }),
    ...(agents.length === 0 ? {} : { agents }),
    maxTurns: Math.max(1, seen.turns * ROOM),
  };
}

async function keepImage(folder: string, name: string, { data }: ImagePart): Promise<string> {
  const bytes = Buffer.from(data, 'base64');
  const kind = imageKind(bytes);
  if (kind === undefined)
    throw new TroupeError('usage', 'A picture that the run was asked with cannot be kept as a file', {
      fix: 'Keep the run with its answers: --frozen',
    });
  const file = `${name}.${kind.ending}`;
  await writeFile(join(folder, file), bytes, { flag: 'wx' });
  return file;
}

interface MadeFiles {
  readonly made: readonly string[];
  readonly notes: readonly string[];
}

async function filesOf(ledger: Ledger, { started }: KeptRun, wanted: NewTest): Promise<MadeFiles> {
  const { root, files } = wanted;
  if (files === undefined || (await isFolder(join(root, TESTS_FOLDER, files)))) return { made: [], notes: [] };
  if (basename(files) !== files || files.startsWith('.'))
    throw new TroupeError('usage', `${files} is no name of a folder in ${TESTS_FOLDER}/`, { fix: 'Name one: --files' });
  const secret = await keepFiles(ledger, started, wanted, join(root, TESTS_FOLDER, files));
  return { made: [files], notes: secret.map((path) => `${path} may hold secrets, and is not kept`) };
}

/** An agent that works on files finds none in a trial, unless somebody says which. */
function filesNote({ files }: NewTest, { tools }: SeenOfRun): readonly string[] {
  const worked = ['read', 'list', 'search', 'edit', 'write', 'shell'].filter((tool) => tools.has(tool));
  return files !== undefined || worked.length === 0
    ? []
    : [`it worked on files (${worked.join(', ')}), and its trials find none: --files <folder> keeps what there was`];
}
