/**
 * Which tools there are, and their versions. Only programs of absolute folders outside the workspace are asked, and not from
 * inside it: what an agent has written, a `node` of its own or a file that names a toolchain, is neither run nor followed.
 */
import { access, constants, readFile, realpath } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { isInside } from '../../agents/text/confined-path.ts';
import type { Environment } from '../../base/environment.ts';
import { isJsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { runBriefly } from './brief-command.ts';

interface AskedTool {
  readonly name: string;
  readonly args: readonly string[];
}

const TOOLS: readonly AskedTool[] = [
  ...['node', 'git', 'python3', 'cargo', 'bash'].map((name) => ({ name, args: ['--version'] })),
  { name: 'npm', args: [] },
  { name: 'go', args: ['version'] },
  { name: 'java', args: ['-version'] },
];

/** `null`: it is there and does not say. Tools that are not there are left out. */
export async function toolVersions(
  workspace: string,
  environment: Environment,
): Promise<Readonly<Record<string, string | null>>> {
  const inside = await realpath(workspace).catch(() => workspace);
  const found = await Promise.all(
    TOOLS.map(async ({ name, args }) => {
      const program = await programOutside(name, inside, environment);
      if (program === undefined) return [];
      const isPackage = name === 'npm';
      return [[name, isPackage ? await packageVersion(program) : await versionSaid({ name, args }, program, environment)]];
    }),
  );
  return Object.fromEntries(found.flat());
}

/** The first that would be run, as a shell would find it; `undefined` when that one is the workspace's own. */
export async function programOutside(name: string, workspace: string, environment: Environment): Promise<string | undefined> {
  for (const folder of (environment['PATH'] ?? '').split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const path = join(folder, name);
    if (!(await isRunnable(path))) continue;
    const real = await realpath(path).catch(() => undefined);
    if (real !== undefined && !isInside(workspace, real) && !isInside(workspace, path)) return path;
  }
  return undefined;
}

async function isRunnable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function versionSaid({ args }: AskedTool, program: string, environment: Environment): Promise<string | null> {
  const said = await runBriefly({ program, args, folder: '/', environment, timeoutMs: limits.environmentToolMs });
  const [line = ''] = (said ?? '').trim().split('\n');
  return line === '' ? null : line.trim().slice(0, SHOWN_CHARACTERS);
}

const SHOWN_CHARACTERS = 200;

/** Starting npm only to ask for its version takes longer than everything else together. */
async function packageVersion(program: string): Promise<string | null> {
  const real = await realpath(program).catch(() => program);
  const text = await readFile(join(dirname(dirname(real)), 'package.json'), 'utf8').catch(() => '');
  const parsed = parseJson(text);
  const version = parsed.ok && isJsonObject(parsed.value) ? parsed.value['version'] : undefined;
  return typeof version === 'string' ? version.slice(0, SHOWN_CHARACTERS) : null;
}
