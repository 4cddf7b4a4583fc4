/** Holds what came of a trial against what must be true of it. Every check that fails says what was there instead. */
import { createHash } from 'node:crypto';
import { lstat, open, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { durationText } from '../agents/definition/duration.ts';
import { isInside } from '../agents/text/confined-path.ts';
import { type Json, parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { counted } from '../base/wording.ts';
import type { RunOutcome } from '../library/run-outcome.ts';
import { schemaProblem } from '../loop/schema-check.ts';
import type { Project } from '../project/project.ts';
import type { CheckOutcome } from './report.ts';
import type { SeenOfRun } from './seen.ts';
import type { Checks } from './test-file.ts';

export interface TriedRun {
  readonly outcome: RunOutcome;
  readonly seen: SeenOfRun;
  readonly workspace: string;
  readonly durationMs: number;
}

type Looks = NonNullable<Checks['answer']>;
type FileCheck = NonNullable<Checks['files']>[string];

const held = (check: string, why: string | undefined): CheckOutcome => ({ check, passed: why === undefined, why: why ?? null });

/** What costs nothing first, commands last: they may change files. */
export async function checkRun(
  tried: TriedRun,
  checks: Checks,
  commands: Pick<Project, 'proves'> & { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<CheckOutcome[]> {
  const files: CheckOutcome[] = [];
  for (const [path, wanted] of Object.entries(checks.files ?? {}))
    files.push(held(`file ${path}`, await fileProblem(tried.workspace, path, wanted)));
  const ran: CheckOutcome[] = [];
  for (const command of checks.commands ?? [])
    ran.push(held(`command ${command}`, await commandProblem(command, tried.workspace, commands)));
  return [...endChecks(tried, checks), ...callChecks(tried.seen, checks), ...ceilings(tried, checks), ...files, ...ran];
}

function endChecks({ outcome }: TriedRun, { status, verification, answer }: Checks): readonly CheckOutcome[] {
  const body = 'report' in outcome ? outcome.report.body : '';
  const why = 'error' in outcome && outcome.error !== undefined ? `: ${outcome.error.message}` : waitsFor(outcome);
  const ended = held(`status ${status}`, outcome.status === status ? undefined : `it was ${outcome.status}${why}`);
  const worth = 'verification' in outcome ? outcome.verification : undefined;
  const reasons = worth !== undefined && 'reasons' in worth ? (worth.reasons ?? []) : [];
  const is = [worth?.state ?? 'nothing', ...reasons].join(': ');
  return [
    ended,
    ...(verification === undefined
      ? []
      : [held(`verification ${verification}`, worth?.state === verification ? undefined : `it was ${is}`)]),
    ...(answer === undefined ? [] : [held('answer', textProblem(body, answer) ?? schemaFault(body, answer.schema))]),
  ];
}

function waitsFor(outcome: RunOutcome): string {
  if (outcome.status !== 'waiting') return '';
  const asked = outcome.waits.map((wait) => (wait.kind === 'question' ? `asks “${wait.question}”` : `wants to use ${wait.tool}`));
  return `: it ${asked.join(', and ')} (answers, approve)`;
}

function textProblem(text: string, { contains = [], lacks = [], matches }: Omit<Looks, 'schema'>): string | undefined {
  const missing = contains.find((wanted) => !text.includes(wanted));
  if (missing !== undefined) return `${JSON.stringify(missing)} is not in it`;
  const unwanted = lacks.find((one) => text.includes(one));
  if (unwanted !== undefined) return `${JSON.stringify(unwanted)} is in it`;
  return matches === undefined || matches.test(text) ? undefined : `it does not match ${matches.source}`;
}

function schemaFault(body: string, schema: Looks['schema']): string | undefined {
  if (schema === undefined) return undefined;
  const parsed = parseJson(body);
  return parsed.ok ? schemaProblem(schema as Json, parsed.value) : 'it is not JSON';
}

function callChecks({ tools, agents }: SeenOfRun, checks: Checks): readonly CheckOutcome[] {
  const among = (names: ReadonlySet<string>): string => [...names].toSorted().join(', ') || 'nothing';
  return [
    ...(checks.called ?? []).map((name) =>
      held(`called ${name}`, tools.has(name) ? undefined : `it was not; ${among(tools)} was`),
    ),
    ...(checks.notCalled ?? []).map((name) => held(`not called ${name}`, tools.has(name) ? 'it was called' : undefined)),
    ...(checks.agents ?? []).map((name) =>
      held(`agent ${name}`, agents.has(name) ? undefined : `it did not work; ${among(agents)} did`),
    ),
  ];
}

function ceilings({ outcome, seen, durationMs }: TriedRun, checks: Checks): readonly CheckOutcome[] {
  const { cost, usage } = outcome;
  const tokens = usage.inputTokens + usage.outputTokens;
  const over = (name: string, limit: number | undefined, why: (limit: number) => string | undefined): readonly CheckOutcome[] =>
    limit === undefined ? [] : [held(name, why(limit))];
  return [
    ...over('maxUsd', checks.maxUsd, (limit) =>
      // Unknown is not free.
      cost.unknownCalls > 0
        ? `the price of ${counted(cost.unknownCalls, 'call')} is unknown`
        : cost.usd > limit
          ? `it cost $${cost.usd}, and ${limit} is the limit`
          : undefined,
    ),
    ...over('maxTokens', checks.maxTokens, (limit) =>
      usage.uncountedCalls > 0
        ? `nobody counted the tokens of ${counted(usage.uncountedCalls, 'call')}`
        : tokens > limit
          ? `it took ${tokens}, and ${limit} is the limit`
          : undefined,
    ),
    ...over('maxTurns', checks.maxTurns, (limit) =>
      seen.turns > limit ? `it took ${seen.turns}, and ${limit} is the limit` : undefined,
    ),
    ...over('maxTime', checks.maxTime, (limit) =>
      durationMs > limit ? `it took ${durationText(durationMs)}, and ${durationText(limit)} is the limit` : undefined,
    ),
  ];
}

async function fileProblem(workspace: string, path: string, wanted: FileCheck): Promise<string | undefined> {
  const full = resolve(workspace, path);
  if (!isInside(workspace, full)) return 'it is outside of the workspace';
  const found = await lstat(full).catch(() => undefined);
  if ('absent' in wanted) return found === undefined ? undefined : 'it is there';
  if (found === undefined) return 'it is not there';
  const text = await bytesOf(workspace, full);
  if (typeof text === 'string') return text;
  const { sha256 } = wanted;
  const sum = sha256 === undefined ? undefined : createHash('sha256').update(text).digest('hex');
  if (sum !== sha256) return `its checksum is ${sum}`;
  return textProblem(text.toString('utf8'), wanted);
}

/** An agent may have left a link there that leads out. */
async function bytesOf(workspace: string, full: string): Promise<Buffer | string> {
  try {
    const real = await realpath(full);
    if (!isInside(await realpath(workspace), real)) return 'it is a link that leads out of the workspace';
    await using file = await open(join(real));
    const info = await file.stat();
    if (!info.isFile()) return 'it is no file';
    if (info.size > limits.testedFileBytes)
      return `it has ${info.size} bytes, and ${limits.testedFileBytes} are the limit (testedFileBytes)`;
    return await file.readFile();
  } catch {
    return 'it cannot be read';
  }
}

async function commandProblem(
  command: string,
  workspace: string,
  { proves, timeoutMs, signal }: Parameters<typeof checkRun>[2],
): Promise<string | undefined> {
  const ran = await proves(command, { workspace, timeoutMs, signal });
  if (!ran.ok) return ran.error;
  const { failure, output } = ran.value;
  return failure === undefined ? undefined : [failure, output.trim()].filter((text) => text !== '').join('\n');
}
