/**
 * One way to change a file, for every tool that does: under the lock of its workspace the file is looked at, compared with what
 * the caller has seen of it, and replaced as a whole. Whoever comes too late is told so and has changed nothing; what would
 * leave the file as it is, is no change.
 */
import type { Clock } from '../../base/clock.ts';
import { isThere } from '../../base/files/held-folder.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import type { Random } from '../../base/random.ts';
import { ok, type Result } from '../../base/result.ts';
import { counted } from '../../base/wording.ts';
import type { Guard } from '../closed/guard.ts';
import { type Evidence, errorResult, type SeenFile, type ToolContext, type ToolOutcome, type ToolRefusal } from '../port.ts';
import { isOpenedByNothing, type ProtectedKind } from '../protected-names.ts';
import { changeEvidence, replaceFile, sha256 } from './file-change.ts';
import { type FileContent, isTooLong, numberedLines, readContent } from './file-content.ts';
import { alone } from './file-lock.ts';
import { type FindsSecrets, shownByLine, uncovers } from './shown-text.ts';
import { type InsidePath, resolveAnywhere, resolveInside } from './workspace.ts';

export interface FileChangeNeeds {
  readonly clock: Clock;
  readonly random: Random;
  readonly guard: Guard;
  /** Of what the caller was shown marks for. */
  readonly secrets?: FindsSecrets | undefined;
}

export interface FileRewrite {
  readonly path: string;
  /** Whether what is replaced has to have been seen. A change that names what it replaces says so itself. */
  readonly blind: 'refused' | 'allowed';
  /** The new text, from what is there now. The failure is for the model; `before` is absent when there is no such file. */
  next(target: InsidePath, before: FileContent | undefined): Result<string, string>;
  said(target: InsidePath, diff: Extract<Evidence, { type: 'file.diff' }>['payload']): string;
}

export async function changeFile(change: FileRewrite, context: ToolContext, needs: FileChangeNeeds): Promise<ToolOutcome> {
  const use = { guard: needs.guard, use: 'write', opened: context.opened } as const;
  const inside = await resolveInside(context.workspace, change.path, use);
  if (!inside.ok) return errorResult(inside.error);
  if (inside.value.relative === '') return errorResult('The path is the workspace itself; name a file in it.');
  const options = { clock: needs.clock, signal: context.signal };
  const changed = await alone(inside.value, options, async () => {
    // Whoever held the lock before may have put a link where there was a folder.
    const still = await resolveInside(context.workspace, change.path, use);
    if (!still.ok) return errorResult(still.error);
    if (still.value.absolute !== inside.value.absolute)
      return errorResult(`${inside.value.relative} leads somewhere else now; nothing was changed.`);
    return await changeNow(inside.value, change, context, needs);
  });
  return changed.ok ? changed.value : errorResult(changed.error);
}

/** What `changeFile` would be refused for, as things are now. Nothing is locked, and nothing is changed. */
export async function whyUnchanged(
  change: FileRewrite,
  context: ToolContext,
  needs: FileChangeNeeds,
): Promise<ToolRefusal | undefined> {
  const use = { guard: needs.guard, use: 'write', opened: context.opened } as const;
  const inside = await resolveInside(context.workspace, change.path, use);
  if (!inside.ok) return { kind: 'error', message: inside.error };
  if (inside.value.relative === '') return undefined;
  const looked = await lookAt(inside.value, change, context, needs);
  return looked.kind === 'error' ? looked : undefined;
}

interface Rewrite {
  readonly kind: 'rewrite';
  readonly before: FileContent | undefined;
  readonly text: string;
  seenOf(bytes: string | Uint8Array): SeenFile;
}

/** What the change would come to: a new text, or an outcome without one. */
async function lookAt(
  target: InsidePath,
  change: FileRewrite,
  context: ToolContext,
  needs: FileChangeNeeds,
): Promise<Rewrite | ToolOutcome> {
  const there: Result<FileContent | undefined, string> = isThere(target) ? await readContent(target) : ok(undefined);
  if (!there.ok) return errorResult(there.error);
  const before = there.value;
  const next = change.next(target, before);
  const path = target.relative;
  // What rules keep from being read, neither a failure nor a success may tell: whether a guess is in it is an answer, too.
  const isShown = context.mayShow?.(path) ?? true;
  const late = await tooLate(path, before, isShown ? change : { blind: 'refused' }, context);
  // Who replaced all of it knows all of it; who replaced a piece knows no more than before.
  const knowsRest = change.blind === 'refused' || (await knowsAll(path, before, context));
  const seenOf = (bytes: string | Uint8Array): SeenFile => ({
    path,
    sha256: sha256(bytes),
    ...(knowsRest ? {} : { lines: unshown(bytes) }),
  });
  if (late !== undefined && !isShown) return late;
  if (before !== undefined && next.ok && before.bytes.equals(Buffer.from(next.value)))
    return {
      kind: 'ok',
      content: [{ type: 'text', text: `${path} holds exactly this already; nothing was changed.` }],
      saw: [seenOf(before.bytes)],
    };
  if (late !== undefined) return late;
  if (!next.ok) return errorResult(next.error);
  const uncovered = uncovers(before, next.value, needs.secrets);
  if (uncovered !== undefined) return errorResult(`${path}: ${uncovered}`);
  return { kind: 'rewrite', before, text: next.value, seenOf };
}

async function changeNow(
  target: InsidePath,
  change: FileRewrite,
  context: ToolContext,
  needs: FileChangeNeeds,
): Promise<ToolOutcome> {
  const looked = await lookAt(target, change, context, needs);
  if (looked.kind !== 'rewrite') return looked;
  const { before, text, seenOf } = looked;
  if (context.signal.aborted) return errorResult('Cancelled; nothing was changed.');
  const written = await replaceFile(target, text, before?.mode, needs.random);
  if (!written.ok) return errorResult(written.error);
  const evidence = changeEvidence(target.relative, before, text, context.redact, (part) => shownByLine(part, needs.secrets));
  return {
    kind: 'ok',
    content: [{ type: 'text', text: change.said(target, evidence.payload) + otherNames(before) }],
    evidence: [evidence],
    saw: [{ ...seenOf(text), written: true }],
  };
}

/**
 * A replaced file is a new one, so it leaves its hard links behind. To write through them would reach what lies outside of the
 * workspace, such as the store that pnpm shares with all projects.
 */
function otherNames(before: FileContent | undefined): string {
  if (before === undefined || before.links < 2) return '';
  const others = before.links === 2 ? 'another name, which still holds' : `${before.links - 1} other names, which still hold`;
  return ` The file had ${others} what was there before: a hard link is not followed.`;
}

async function knowsAll(path: string, before: FileContent | undefined, { seen }: ToolContext): Promise<boolean> {
  const version = before === undefined ? null : sha256(before.bytes);
  return (await seen.version(path)) === version && (await seen.unread(path)) === undefined;
}

const unshown = (bytes: string | Uint8Array) => ({
  from: 1,
  to: 0,
  of: numberedLines(new TextDecoder().decode(Buffer.from(bytes))).length,
});

/** What to tell a caller that would replace lines it has not seen. */
function partlyRead(path: string, line: number, before: FileContent): string {
  const lines = numberedLines(new TextDecoder().decode(before.bytes));
  const known = `${path} has ${counted(lines.length, 'line')} and you have not seen line ${line}; nothing was changed.`;
  if (isTooLong(lines[line - 1] ?? ''))
    return `${known} It is too long to be shown whole: change a piece of the file with \`edit\`.`;
  const first = `Read on with offset ${line} first, so that nothing in it is lost by mistake`;
  return `${known} ${first}, or change what you saw with \`edit\`.`;
}

/** What to tell a caller that goes by another version of the file than the one that is there. */
async function tooLate(
  path: string,
  before: FileContent | undefined,
  { blind }: Pick<FileRewrite, 'blind'>,
  { seen }: ToolContext,
): Promise<ToolOutcome | undefined> {
  const version = before === undefined ? null : sha256(before.bytes);
  const known = await seen.version(path);
  const whole = blind === 'refused' && known === version ? before : undefined;
  const line = whole === undefined ? undefined : await seen.unread(path);
  if (whole !== undefined && line !== undefined) return errorResult(partlyRead(path, line, whole));
  if (known === version) return undefined;
  if (known === undefined) {
    if (blind === 'allowed' || before === undefined || before.bytes.length === 0) return undefined;
    return errorResult(
      `${path} exists and you have not read it; nothing was changed. Read it first, so that nothing in it is lost by mistake.`,
    );
  }
  if (version === null)
    // There is nothing more to see of it: whoever wants it back may write it.
    return {
      kind: 'error',
      message: `${path} was there when you read it and is gone now; nothing was changed. Write it again if it should be there.`,
      saw: [{ path, sha256: null }],
    };
  const by = await seen.changedBy(path, version);
  const what = known === null ? 'was not there when you looked and is now' : 'was changed since you read it';
  return errorResult(
    `${path} ${what}${by === undefined ? '' : ` (by the agent ${by})`}; nothing was changed. Read it again and decide anew.`,
  );
}

/** What a change of this path would need to be opened first; `undefined` also for what cannot be changed at all. */
export async function protectionOf(guard: Guard, workspace: string, input: Json): Promise<ProtectedKind | undefined> {
  const path = isJsonObject(input) ? input['path'] : undefined;
  const inside = typeof path === 'string' ? await resolveAnywhere(workspace, path) : undefined;
  const protection = inside?.ok === true ? await guard.protection(inside.value.root, inside.value.absolute) : undefined;
  return isOpenedByNothing(protection) ? undefined : protection;
}
