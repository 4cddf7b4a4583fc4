/**
 * Files of the project that its own MCP servers run, and that something changed while a run was at work: the owner has not seen
 * what they hold now. What a person changes while no call is under way is nobody's question. What is known of it lies in the
 * user's own folder: a note for each call under way, with how the files were before it, so that nothing is lost when a process
 * dies; and a mark for each file that was different after one.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../../base/environment.ts';
import { parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { type Random, systemRandom } from '../../base/random.ts';
import { processExists } from '../../ledger/rules/leases.ts';
import { namesIn, WATCHING_FOLDER } from '../../tools/closed/guard.ts';
import type { McpServerConfig } from '../../tools/mcp/connection.ts';
import { userFolder } from '../config.ts';
import { heldBy, namedPaths } from './named-files.ts';

/** Calls what has to be done when the work has ended. */
export type Watching = () => Promise<() => Promise<void>>;

export async function whileWatching<Value>(watching: Watching, work: () => Promise<Value>): Promise<Value> {
  const ended = await watching();
  try {
    return await work();
  } finally {
    await ended();
  }
}

export interface ChangedFiles {
  /** Before something runs for an agent that may change files. */
  readonly watching: Watching;
  /** Which files of this server changed so that nobody has allowed it since, relative to the project. */
  changed(server: McpServerConfig): Promise<readonly string[]>;
  /** What its files hold now is as it should be. */
  settle(server: McpServerConfig): Promise<void>;
}

const note = z.object({
  pid: z.number(),
  host: z.string(),
  /** Command lines that were looked at: a file of theirs that is not among `files` was not there. */
  lines: z.array(z.string()),
  files: z.record(z.string(), z.string()),
});
const mark = z.object({ path: z.string(), before: z.string().nullable() });
type Note = z.infer<typeof note>;
type Holds = ReadonlyMap<string, string>;

export function createChangedFiles(
  root: string,
  env: Environment,
  servers: Readonly<Record<string, McpServerConfig>>,
  random: Random = systemRandom,
): ChangedFiles {
  const project = hashOf(root).slice(0, 32);
  const notes = join(userFolder(env), WATCHING_FOLDER, project);
  const marks = join(userFolder(env), 'changed-files', project);
  const own = Object.values(servers).filter((server) => 'command' in server);
  const markOf = (path: string): string => join(marks, `${hashOf(path)}.json`);
  const holdsNow = (server: McpServerConfig): Promise<Holds> => holdsOf(root, server);

  const marked = (paths: Iterable<string>, before: Note['files']): void => {
    for (const path of paths)
      if (readAs(mark, markOf(path)) === undefined) writeInto(marks, markOf(path), { path, before: before[path] ?? null });
  };
  /** What differs is marked, and the note goes. */
  const finish = async (file: string, known: Note): Promise<void> => {
    const now = new Map<string, string>();
    for (const server of own)
      if (known.lines.includes(lineOf(server))) for (const [path, content] of await holdsNow(server)) now.set(path, content);
    marked(
      [...now].filter(([path, content]) => known.files[path] !== content).map(([path]) => path),
      known.files,
    );
    rmSync(file, { force: true });
  };
  /** Those under way; those of processes that died are finished for them. */
  const underWay = async (): Promise<readonly { readonly file: string; readonly known: Note }[]> => {
    const found = (await namesIn(notes)).flatMap((name) => {
      const known = readAs(note, join(notes, name));
      return known === undefined ? [] : [{ file: join(notes, name), known }];
    });
    for (const { file, known } of found) if (isOver(known)) await finish(file, known);
    return found.filter(({ known }) => !isOver(known));
  };
  return {
    async watching() {
      if (own.length === 0) return async () => undefined;
      const files = new Map<string, string>();
      for (const server of own) for (const [path, content] of await holdsNow(server)) files.set(path, content);
      const file = join(notes, `${Buffer.from(random.bytes(12)).toString('hex')}.json`);
      const begun = { pid: process.pid, host: hostname(), lines: own.map(lineOf), files: Object.fromEntries(files) };
      writeInto(notes, file, begun);
      // What was settled meanwhile is in the file.
      return () => finish(file, readAs(note, file) ?? begun);
    },
    async changed(server) {
      if (!('command' in server)) return [];
      const now = await holdsNow(server);
      const open = (await underWay()).filter(({ known }) => known.lines.includes(lineOf(server)));
      const isChanged = (path: string, content: string): boolean => {
        if (open.some(({ known }) => known.files[path] !== content)) return true;
        const known = readAs(mark, markOf(path));
        if (known?.before !== content) return known !== undefined;
        // It is again as it was.
        rmSync(markOf(path), { force: true });
        return false;
      };
      return [...now].filter(([path, content]) => isChanged(path, content)).map(([path]) => path);
    },
    async settle(server) {
      const now = await holdsNow(server);
      for (const { file, known } of await underWay())
        writeInto(notes, file, { ...known, files: { ...known.files, ...Object.fromEntries(now) } });
      for (const path of now.keys()) rmSync(markOf(path), { force: true });
    },
  };
}

async function holdsOf(root: string, server: McpServerConfig): Promise<Holds> {
  if (!('command' in server)) return new Map();
  const paths = await namedPaths(root, resolve(root, server.cwd ?? '.'), server);
  return new Map([...(await heldBy(root, paths))].map(([path, content]) => [relative(root, path), content]));
}

const lineOf = (server: McpServerConfig): string => hashOf(JSON.stringify(server));

const isOver = ({ pid, host }: Note): boolean => host === hostname() && !processExists(pid);

/** Where the user's folder cannot be written nothing can be kept. */
function writeInto(folder: string, file: string, value: Note | z.infer<typeof mark>): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  } catch {
    // Told in docs/security.md.
  }
}

function readAs<Schema extends z.ZodType>(schema: Schema, file: string): z.infer<Schema> | undefined {
  try {
    if (statSync(file).size > limits.closedFileBytes) return undefined;
    const parsed = parseJson(readFileSync(file, 'utf8'));
    return parsed.ok ? schema.safeParse(parsed.value).data : undefined;
  } catch {
    return undefined;
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
