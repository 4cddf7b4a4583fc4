/**
 * Transcripts in a file or a folder, recognised by what is in them, and those that the programs keep on this machine. Nothing is
 * written, and no link is followed out of a folder.
 */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { claudeHead, claudeTranscript } from './claude-code/files.ts';
import { codexHead, codexTranscript } from './codex/head.ts';
import type { Transcript, TranscriptHead } from './items.ts';
import { isDatabase, opencodeTranscripts } from './opencode/database.ts';

/** A file that holds one conversation, or a database of several. */
export type FoundTranscript =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly head: TranscriptHead;
      readonly bytes: number;
      open(): Promise<Transcript>;
    }
  | { readonly kind: 'database'; readonly path: string };

/** Nothing for what is no transcript. */
export async function recognisedTranscript(path: string): Promise<FoundTranscript | undefined> {
  const { size } = await stat(path);
  if (await isDatabase(path)) return { kind: 'database', path };
  const codex = await codexHead(path, size);
  if (codex !== undefined) return { kind: 'file', path, head: codex, bytes: size, open: () => codexTranscript(path, codex) };
  const claude = await claudeHead(path, size);
  if (claude === undefined) return undefined;
  return { kind: 'file', path, head: claude, bytes: size, open: () => claudeTranscript(path, claude) };
}

export interface FoundIn {
  readonly found: readonly FoundTranscript[];
  /** How many files were looked at. */
  readonly files: number;
}

/** `path` may be a file or a folder with whatever else in it. */
export async function transcriptsIn(path: string): Promise<FoundIn> {
  const info = await stat(path).catch((error: unknown) => {
    throw notThere(path, error);
  });
  if (!info.isDirectory()) {
    if (!info.isFile()) throw noTranscript(path);
    const found = await recognisedTranscript(path);
    if (found === undefined) throw noTranscript(path);
    return { found: [found], files: 1 };
  }
  const found: FoundTranscript[] = [];
  let files = 0;
  for await (const file of filesBelow(path)) {
    files += 1;
    const one = await recognisedTranscript(file);
    if (one !== undefined) found.push(one);
    if (found.length > limits.transcriptFiles) throw tooMany(path);
  }
  return { found, files };
}

/** Files that may be transcripts by their names; those of sub-agents belong to others. */
async function* filesBelow(top: string): AsyncGenerator<string> {
  const folders = [top];
  let walked = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    walked += 1;
    if (walked > limits.transcriptFolders) throw tooMany(top);
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== 'subagents' && entry.name !== 'node_modules') folders.push(path);
      else if (entry.isFile() && /\.(?:jsonl|db)$/.test(entry.name)) yield path;
    }
  }
}

/** Where the programs keep them, for a home and the variables that move it. */
export function transcriptFolders(home: string, env: Readonly<Record<string, string | undefined>>) {
  const share = env['XDG_DATA_HOME'] ?? join(home, '.local/share');
  return {
    claude: join(env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude'), 'projects'),
    codex: join(env['CODEX_HOME'] ?? join(home, '.codex'), 'sessions'),
    opencode: join(share, 'opencode', 'opencode.db'),
  };
}

/** Those of this machine that worked in `folder`, the newest first. */
export async function transcriptsOf(
  folder: string,
  { claude, codex, opencode }: ReturnType<typeof transcriptFolders>,
): Promise<readonly Transcript[]> {
  const found: Transcript[] = [];
  for (const top of [join(claude, folder.replaceAll(/[^A-Za-z0-9]/g, '-')), codex]) {
    if (!(await isThere(top))) continue;
    for (const one of (await transcriptsIn(top)).found)
      if (one.kind === 'file' && one.head.folder === folder) found.push(await one.open());
  }
  if (await isThere(opencode)) found.push(...(await opencodeTranscripts(opencode, folder)));
  return found.sort((one, other) => other.head.at - one.head.at).slice(0, limits.transcriptFiles);
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

function notThere(path: string, error: unknown): TroupeError {
  const why = codeOf(error) === 'ENOENT' ? 'is not there' : `cannot be read (${codeOf(error) ?? 'unknown'})`;
  return new TroupeError('transcript_missing', `${path} ${why}.`, { fix: 'Name the file of a transcript, or a folder of them.' });
}

const noTranscript = (path: string): TroupeError =>
  new TroupeError('transcript_unknown', `${basename(path)} is no transcript of Claude Code, Codex or opencode.`, {
    fix: `Name a session of one of them: \`troupe import --list\` finds those of this project. It lies in ${dirname(path)}.`,
  });

const tooMany = (path: string): TroupeError =>
  new TroupeError('transcript_too_many', `There is too much below ${path} (limits transcriptFiles, transcriptFolders).`, {
    fix: 'Name a folder further down.',
  });
