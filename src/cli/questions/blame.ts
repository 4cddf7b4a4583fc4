/** `troupe blame`: who wrote each line of a file, or one of them, and because of which prompt. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { TroupeError } from '../../base/errors.ts';
import { eventPosition, shortId } from '../../base/ids.ts';
import { counted } from '../../base/wording.ts';
import { type Blame, type BlamedChange, type BlamedLine, blameValue, readBlame } from '../../front/looking/blame.ts';
import {
  asCalled,
  type CommandContext,
  callOf,
  type JsonOption,
  printJson,
  usageError,
  withProject,
} from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

export async function blameCommand(context: CommandContext, text: string, options: JsonOption): Promise<ExitCode> {
  const { file, line } = fileAndLine(context.cwd, text);
  return withProject(context, { readOnly: true }, async ({ ledger, config }) => {
    const blame = await readBlame(ledger, { workspace: config.workspace, cwd: context.cwd }, file);
    if (!blame.ok) throw new TroupeError(blame.error.code, blame.error.message, { fix: blame.error.fix });
    const { lines } = blame.value;
    const wanted = line === undefined ? lines : lines.filter((one) => one.line === line);
    if (wanted.length === 0 && line !== undefined)
      throw usageError(`${file} has no line ${line}`, `it has ${counted(lines.length, 'line')}`);
    if (options.json) printJson(context, 'blame', blameValue(blame.value, wanted));
    else if (line === undefined) printAll(context, blame.value);
    else for (const one of wanted) printOne(context, one);
    return exitCodes.completed;
  });
}

/** A name may end in a colon and a number itself: then it is the file that is there. */
function fileAndLine(cwd: string, text: string): { readonly file: string; readonly line: number | undefined } {
  const [, file, line] = /^(.+):(\d{1,9})$/.exec(text) ?? [];
  if (file === undefined || existsSync(resolve(cwd, text))) return { file: text, line: undefined };
  return { file, line: Number(line) };
}

/** A name for whoever wrote it, and where: `~` where somebody has changed the file since, and nobody saw it. */
function whoOf(change: BlamedChange | null, certain: boolean): readonly [who: string, where: string] {
  if (change === null) return ['nobody recorded it', ''];
  const turn = change.turn === null ? '' : ` turn ${change.turn}`;
  const who = change.source === 'outside' ? 'somebody outside' : `${safeLine(change.agent)}${turn}`;
  return [`${certain ? '' : '~ '}${who}`, `${shortId(change.run)} [${eventPosition(change.event) ?? ''}]`];
}

function printAll({ terminal: { out, progress } }: CommandContext, { lines, changes, asRecorded }: Blame): void {
  printTable(
    out,
    ['LINE', 'WHO', 'WHERE', 'TEXT'],
    lines.map(({ line, text, change, certain }) => [String(line), ...whoOf(change, certain), safeLine(text)]),
    ['LINE', 'WHO', 'WHERE'],
  );
  if (changes.length === 0) progress.prose('no change of this file is recorded');
  else if (!asRecorded)
    progress.prose('the file was changed since the last recorded change; ~ marks what was found again by its text');
}

function printOne(context: CommandContext, { line, text, change, certain }: BlamedLine): void {
  const { out } = context.terminal;
  out.line(`${line}: ${safeLine(text)}`);
  if (change === null) {
    out.line('nobody recorded who wrote it: it was there before, or somebody else changed the file');
    return;
  }
  const turn = change.turn === null ? '' : `, turn ${change.turn}`;
  const how = change.source === 'command' ? 'a command' : (change.tool ?? change.source);
  out.line(`written by  ${safeLine(change.agent)}${turn}, with ${safeLine(how)}, at ${change.at}`);
  if (change.source === 'outside') out.line('            by somebody else: it was noticed there');
  if (!certain) out.line('            as far as its text says: the file was changed since, and nobody saw it');
  out.line(`run         ${change.run}`);
  out.line(`event       ${change.event}`);
  out.line(`prompt      ${safeLine(change.prompt)}`);
  out.line(`next        ${asCalled(`troupe why ${change.event}`, callOf(context))}`);
}
