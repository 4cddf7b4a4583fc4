/** `troupe import`: sessions of what other programs kept of theirs. */
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { codeOf, messageOf, TroupeError } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { counted } from '../../base/wording.ts';
import type { Imports } from '../../front/shapes/importing.ts';
import type { Project } from '../../project/project.ts';
import { readableBytes } from '../../projections/readable.ts';
import { type FoundTranscript, transcriptFolders, transcriptsIn, transcriptsOf } from '../../transcripts/find.ts';
import { type Imported, importTranscript, sessionOf } from '../../transcripts/import.ts';
import type { Transcript } from '../../transcripts/items.ts';
import { opencodeTranscripts } from '../../transcripts/opencode/database.ts';
import { bundleAt } from '../export/bundle-file.ts';
import { type CommandContext, callOf, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';
import { type BundleImportOptions, importBundleCommand } from './bundle.ts';

export interface ImportOptions extends BundleImportOptions {
  readonly list?: boolean | undefined;
  /** Only this conversation, of a file that holds several. */
  readonly id?: string | undefined;
}

export async function importCommand(
  context: CommandContext,
  paths: readonly string[],
  options: ImportOptions,
): Promise<ExitCode> {
  if (options.list === true) return await listCommand(context, options);
  if (paths.length === 0)
    throw usageError('Nothing is named to be imported', `see what there is: ${callOf(context)} import --list`);
  const [only] = paths.length === 1 ? paths : [];
  const bundle = only === undefined ? undefined : await bundleAt(resolve(context.cwd, only));
  if (bundle !== undefined) return await importBundleCommand(context, bundle, options);
  if (options.check === true || options.key !== undefined)
    throw usageError(`${paths.join(', ')} is no bundle`, 'give one file that `troupe export RUN --bundle -o FILE` has written');
  return await withProject(context, {}, async (project) => {
    const all: Imports = { imported: [], refused: [], found: [] };
    for (const path of paths) await importPath(context, project, resolve(context.cwd, path), options, all);
    if (options.json) printJson(context, 'import', all);
    else if (all.imported.length === 0 && all.refused.length === 0) sayNothing(context, paths);
    return all.refused.length > 0 || all.imported.length === 0 ? exitCodes.failed : exitCodes.completed;
  });
}

async function importPath(
  context: CommandContext,
  project: Project,
  path: string,
  options: ImportOptions,
  all: Imports,
): Promise<void> {
  const { found } = await transcriptsIn(path);
  for (const one of found)
    for await (const [file, opened] of openedOf(one)) {
      const transcript = await opened().catch((error: unknown) => refuse(context, file, error, options, all));
      if (transcript === undefined || (options.id !== undefined && transcript.head.id !== options.id)) continue;
      const done = await imported(project, context, transcript).catch((error: unknown) =>
        refuse(context, file, error, options, all),
      );
      if (done === undefined) continue;
      all.imported.push(rowOf(transcript, done));
      if (!options.json) say(context, transcript, done);
    }
}

type Opening = readonly [path: string, open: () => Promise<Transcript>];

async function* openedOf(found: FoundTranscript): AsyncGenerator<Opening> {
  if (found.kind === 'file') yield [found.path, found.open];
  else for (const transcript of await opencodeTranscripts(found.path, undefined)) yield [found.path, async () => transcript];
}

const imported = ({ ledger, prices, config }: Project, { clock }: CommandContext, transcript: Transcript): Promise<Imported> =>
  importTranscript({ ledger, clock, prices, workspace: config.workspace }, transcript);

/** One that cannot be taken over does not keep the others from it. */
function refuse(context: CommandContext, path: string, error: unknown, { json }: ImportOptions, all: Imports): undefined {
  const fix = error instanceof TroupeError ? error.fix : undefined;
  const failure = { code: codeOf(error) ?? 'failed', message: messageOf(error), ...present({ fix }) };
  all.refused.push({ path, error: failure });
  if (json) return;
  context.terminal.progress.prose(`not imported: ${safeLine(failure.message)}`);
  if (fix !== undefined) context.terminal.progress.prose(safeLine(fix));
}

const rowOf = (
  { head, path, bytes }: Transcript,
  { session, source, outcome, events, counts }: Imported,
): Imports['imported'][number] => ({
  ...{ program: head.program, id: head.id, path, bytes, session, outcome, earlier: source.earlier ?? null, events },
  ...{ runs: counts.runs, answers: counts.answers, results: counts.results, records: counts.records },
});

function say(context: CommandContext, { head, path }: Transcript, { session, source, outcome, counts, events }: Imported): void {
  const { out, progress } = context.terminal;
  out.line(session);
  if (outcome === 'there already') {
    progress.prose(`${safeLine(path)} was imported before; nothing was written`);
    return;
  }
  const parts = [
    counted(counts.runs, 'run'),
    counted(counts.answers, 'answer'),
    counted(counts.results, 'result of tools', 'results of tools'),
  ];
  progress.prose(`${outcome} from ${head.program}: ${parts.join(', ')}, ${counted(events, 'event')}`);
  if (counts.records > 0) progress.prose(`${counted(counts.records, 'record')} kept as they stood there`);
  if (source.earlier !== undefined)
    progress.prose(`there was less of it in ${source.earlier}: what is in both is counted there, and costs nothing here`);
  progress.prose(`look at it: ${callOf(context)} show ${session.slice(-6)}`);
}

function sayNothing({ terminal }: CommandContext, paths: readonly string[]): void {
  terminal.progress.prose(`there is no transcript of Claude Code, Codex or opencode in ${safeLine(paths.join(', '))}`);
}

async function listCommand(context: CommandContext, { json }: ImportOptions): Promise<ExitCode> {
  return await withProject(context, {}, async ({ root, config, ledger }) => {
    const { env } = context.terminal;
    const folders = transcriptFolders(env['HOME'] || homedir(), env);
    const known = new Map<string, Transcript>();
    for (const folder of new Set([root, config.workspace]))
      for (const one of await transcriptsOf(folder, folders)) known.set(`${one.path} ${one.head.id}`, one);
    const found: Imports['found'] = [];
    for (const one of known.values()) {
      const there = await wasImported(ledger, sessionOf(one));
      const { head, path, bytes } = one;
      found.push({
        ...{
          program: head.program,
          id: head.id,
          path,
          bytes,
          title: head.title ?? null,
          folder: head.folder ?? null,
          at: head.at,
        },
        session: there ? sessionOf(one) : null,
      });
    }
    if (json) printJson(context, 'import', { imported: [], refused: [], found });
    else printFound(context, found);
    return exitCodes.completed;
  });
}

/** One whose words were collected or forgotten since, too. */
async function wasImported(ledger: Project['ledger'], session: SessionId): Promise<boolean> {
  try {
    return (await ledger.read({ session, limit: 1 })).length > 0;
  } catch (error) {
    if (codeOf(error) !== 'ledger_collected') throw error;
    return true;
  }
}

function printFound(context: CommandContext, found: Imports['found']): void {
  const { out, progress } = context.terminal;
  if (found.length === 0) {
    progress.prose('no transcript of this project is kept on this machine');
    return;
  }
  printTable(
    out,
    ['PROGRAM', 'BEGAN', 'SIZE', 'SESSION', 'ID', 'FILE'],
    found.map(({ program, at, bytes, session, id, path }) => [
      ...[program, new Date(at).toISOString().slice(0, 16).replace('T', ' '), readableBytes(bytes)],
      ...[session === null ? '-' : session.slice(-6), safeLine(id), safeLine(path)],
    ]),
  );
  progress.prose(`import one: ${callOf(context)} import <file>`);
  if (found.length >= limits.transcriptFiles) progress.prose(`only the first ${limits.transcriptFiles} (limit transcriptFiles)`);
}
