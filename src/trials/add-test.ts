/** A run kept as a test: what it was asked, and what was true of it, as a file to be read and sharpened by whoever keeps it. */
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TroupeError } from '../base/errors.ts';
import { present } from '../base/present.ts';
import type { EventOf } from '../events/envelope.ts';
import { readEvents } from '../ledger/pages.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import { TESTS_FOLDER } from './read-files.ts';
import { seenOf } from './seen.ts';

export interface NewTest {
  readonly root: string;
  readonly name: string;
  /** A folder for the workspace of its trials, from `tests/`. */
  readonly files?: string | undefined;
}

const NAME = /^[\w][\w.-]{0,99}$/u;
/** Twice what it took: a test is to fail when something runs away, not when a model takes a turn more. */
const ROOM = 2;

/** The path of the file, from the project's folder. */
export async function addTest(ledger: Ledger, row: RunRow, { root, name, files }: NewTest): Promise<string> {
  if (!NAME.test(name) || name === 'add')
    throw new TroupeError('usage', `A test cannot be called ${JSON.stringify(name)}`, {
      fix: 'Use letters, digits and - : --name',
    });
  if (row.parent !== null)
    throw new TroupeError('usage', `${row.run} works for another run`, { fix: `Keep the whole: troupe test add ${row.parent}` });
  const [started, ended] = await beginningAndEnd(ledger, row);
  if (ended === undefined)
    throw new TroupeError('usage', `${row.run} has not ended`, { fix: `Have it end first: troupe resume ${row.run}` });
  const seen = await seenOf(ledger, row.session, row.run);
  const path = join(root, TESTS_FOLDER, `${name}.yaml`);
  if (
    await access(path).then(
      () => true,
      () => false,
    )
  )
    throw new TroupeError('usage', `There is a test ${name} already`, { fix: 'Name another: --name' });
  const { status, verification } = ended.payload;
  const { stringify } = await import('yaml');
  const agents = [...seen.agents].filter((agent) => agent !== started.payload.agent).toSorted();
  const text = stringify({
    agent: started.payload.agent,
    prompt: promptOf(started),
    ...present({ files }),
    trials: 1,
    checks: {
      status,
      ...(verification?.state === 'verified' ? { verification: 'verified' } : {}),
      ...(seen.tools.size === 0 ? {} : { called: [...seen.tools].toSorted() }),
      ...(agents.length === 0 ? {} : { agents }),
      maxTurns: Math.max(1, seen.turns * ROOM),
    },
  });
  await mkdir(join(root, TESTS_FOLDER), { recursive: true });
  await writeFile(path, `# Kept from ${row.run}. docs/trials.md says what else can be checked.\n${text}`, { flag: 'wx' });
  return join(TESTS_FOLDER, `${name}.yaml`);
}

async function beginningAndEnd(
  ledger: Ledger,
  { session, run }: RunRow,
): Promise<readonly [EventOf<'run.started'>, EventOf<'run.ended'> | undefined]> {
  let started: EventOf<'run.started'> | undefined;
  let ended: EventOf<'run.ended'> | undefined;
  for await (const event of readEvents(ledger, { session, run })) {
    if (event.event_type === 'run.started') started = event;
    if (event.event_type === 'run.ended') ended = event;
    if (event.event_type === 'run.reopened') ended = undefined;
  }
  if (started === undefined) throw new TroupeError('usage', `The beginning of ${run} is not in the ledger any more`);
  return [started, ended];
}

function promptOf({ payload, run_id }: EventOf<'run.started'>): string {
  const parts = payload.input.content;
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (texts.length < parts.length || texts.length === 0)
    throw new TroupeError('usage', `${run_id} was asked with more than words`, {
      fix: 'Only prompts in words can be kept as tests.',
    });
  if (payload.continues !== undefined)
    throw new TroupeError('usage', `${run_id} goes on with a conversation`, {
      fix: 'A test begins anew: keep the first run of its session.',
    });
  return texts.join('\n\n');
}
