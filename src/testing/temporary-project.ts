/**
 * A project for one test: a folder of its own, a model that plays what the test says, and the real engine, ledger and tools
 * around it. No key is seen and no model is asked over the network.
 */
import { cp, mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { isInside } from '../agents/text/confined-path.ts';
import { type ChecksOf, hasMethods, isObject, isText, requireGiven } from '../base/check-given.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { TroupeError } from '../base/errors.ts';
import { broughtChecks } from '../library/check-options.ts';
import { openTroupe, type Troupe } from '../library/troupe.ts';
import { type Replies, scriptedModel, type TestModel } from '../models/scripted/scripted.ts';
import type { OrdinaryTool } from '../tools/port.ts';

/** What a test's project is made of. */
export interface TemporaryProjectOptions {
  /** What the model says. It is the model of every agent, whatever their files name. */
  readonly replies: Replies;
  /** A folder that is copied first, such as your project: without its state, `.git` and `node_modules`. */
  readonly from?: string | undefined;
  /** Files by their path in the folder, written over what was copied. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** As for `createTroupe`. */
  readonly agents?: readonly AgentDefinition[] | undefined;
  /** As for `createTroupe`. */
  readonly tools?: readonly OrdinaryTool[] | undefined;
  /** Time for everything in the project; the system's without it. */
  readonly clock?: Clock | undefined;
}

/** An open project in a folder of its own. It goes with the end of its scope: open it with `await using`. */
export interface TemporaryProject extends AsyncDisposable {
  readonly folder: string;
  readonly troupe: Troupe;
  /** Keeps what it was asked, and what it had no reply for. */
  readonly model: TestModel;
  /** Closes the project and removes its folder. */
  close(): Promise<void>;
}

const CHECKS: ChecksOf<TemporaryProjectOptions> = {
  ...broughtChecks,
  // The model that plays them says what is wrong with them.
  replies: (value) => (typeof value === 'function' ? undefined : Array.isArray(value) ? undefined : isObject(value)),
  from: isText,
  files: isObject,
  clock: hasMethods('a clock', 'now', 'elapsed', 'after'),
};

const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '.troupe', 'node_modules']);

/** Makes a folder, puts the files into it and opens it as a project. */
export async function createTemporaryProject(options: TemporaryProjectOptions): Promise<TemporaryProject> {
  requireGiven('createTemporaryProject', options, CHECKS, { needed: ['replies'] });
  const { replies, from, files = {}, agents, tools, clock = systemClock } = options;
  if (from !== undefined && (await stat(from).catch(() => undefined))?.isDirectory() !== true)
    throw new TroupeError('usage', `There is no folder ${resolve(from)} to copy`, { fix: 'Correct `from`.' });
  const folder = await realpath(await mkdtemp(resolve(tmpdir(), 'troupe-test-')));
  try {
    if (from !== undefined)
      await cp(from, folder, {
        recursive: true,
        filter: (path) => !LEFT_OUT.has(basename(path)) || resolve(path) === resolve(from),
      });
    for (const [path, text] of Object.entries(files)) await writeInside(folder, path, text);
    const model = scriptedModel(replies, { clock });
    // Nothing of the developer's own: no keys, no settings, no agents.
    const env = { HOME: folder, PATH: process.env['PATH'], OLLAMA_HOST: '127.0.0.1:9' };
    const troupe = await openTroupe(
      { cwd: folder, root: folder, env, clock, flags: { model: model.id } },
      { agents, tools, models: [model] },
    );
    const close = async (): Promise<void> => {
      await troupe.close();
      await rm(folder, { recursive: true, force: true });
    };
    return { folder, troupe, model, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function writeInside(folder: string, path: string, text: string): Promise<void> {
  const full = resolve(folder, path);
  if (!isInside(folder, full))
    throw new TroupeError('usage', `${path} is outside of the temporary project`, { fix: 'Give a path below its folder.' });
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, text);
}
