/**
 * What an executor asks of us while it works: permissions, files, commands, questions. Each is put to whoever follows, done
 * inside the folder of the session, and told as something that we saw.
 */
import { resolve } from 'node:path';
import { z } from 'zod';
import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { resolveAnywhere } from '../../tools/files/workspace.ts';
import type { CallbackRefusal } from '../acp-wire/peer.ts';
import { type PermissionSaid, permissionSaid } from '../acp-wire/schemas.ts';
import type { ExecutorAllowed, ExecutorAnswer, ExecutorCommand, PermissionDecision, PermissionKind } from '../port.ts';
import type { Calls } from './calls.ts';
import { type FileNeeds, type FileRefusal, readForExecutor, writeForExecutor } from './files.ts';
import type { PromptFollower } from './follower.ts';
import type { Terminals } from './terminals.ts';

export interface CallbackNeeds {
  readonly files: FileNeeds;
  readonly terminals: Terminals;
  readonly follower: PromptFollower;
  readonly calls: Calls;
  /** What a command gets of our environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** By which it is known, wherever it goes. */
  readonly mark: Readonly<Record<string, string>>;
  /** Whether commands that we run for it are inside walls. */
  walled(): Promise<boolean>;
  /** Aborts when nothing is worked on, or not any more. */
  over(): AbortSignal;
  isOwn(session: string): boolean;
}

type Answered = Promise<Result<Json, CallbackRefusal>>;
type Callback = (params: unknown, signal: AbortSignal, needs: CallbackNeeds) => Answered;

const NOBODY: ExecutorAllowed = { allowed: false, reason: 'Nobody is there to allow it: the prompt is over or was cancelled.' };
const invalid = (message: string) => fail<CallbackRefusal>({ code: 'invalid', message });

export const noSuchMethod = (method: string) =>
  fail<CallbackRefusal>({ code: 'unknown', message: `There is no method ${method.slice(0, 100)}.` });

export async function answerCallback(method: string, params: unknown, signal: AbortSignal, needs: CallbackNeeds): Answered {
  const callback = Object.hasOwn(CALLBACKS, method) ? CALLBACKS[method] : undefined;
  if (callback === undefined) return noSuchMethod(method);
  const session = z.object({ sessionId: z.string() }).safeParse(params);
  if (method !== 'elicitation/create' && !(session.success && needs.isOwn(session.data.sessionId)))
    return invalid('There is no such session.');
  // Whichever comes first: it takes the question back, or what it was asked for is over.
  return await callback(params, AbortSignal.any([signal, needs.over()]), needs);
}

async function permission(params: unknown, signal: AbortSignal, { follower, calls }: CallbackNeeds): Answered {
  const parsed = permissionSaid.safeParse(params);
  if (!parsed.success) return invalid('This is no request for a permission.');
  const { toolCall, options } = parsed.data;
  const call = calls.said(toolCall);
  if (call === undefined) return ok({ outcome: { outcome: 'cancelled' } });
  follower.tell({ what: 'update', update: { kind: 'call', call } });
  const shown = options.map(({ name, kind }) => ({ name, kind }));
  const decision = await follower.ask<PermissionDecision>(
    (handlers, open) => handlers.permission({ call, options: shown, signal: open }),
    'cancelled',
    signal,
  );
  const chosen = signal.aborted ? undefined : optionFor(decision, options);
  return ok({ outcome: chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen } });
}

/** By their kinds, never by their places or names. Nothing is allowed for longer than was meant. */
const INSTEAD: Readonly<Record<PermissionKind, readonly PermissionKind[]>> = {
  allow_once: ['allow_once', 'reject_once', 'reject_always'],
  allow_always: ['allow_always', 'allow_once', 'reject_once', 'reject_always'],
  reject_once: ['reject_once', 'reject_always'],
  reject_always: ['reject_always', 'reject_once'],
};

export function optionFor(decision: PermissionDecision, options: PermissionSaid['options']): string | undefined {
  if (decision === 'cancelled') return undefined;
  for (const kind of INSTEAD[decision]) {
    const option = options.find((one) => one.kind === kind);
    if (option !== undefined) return option.optionId;
  }
  return undefined;
}

const refusedFile = ({ message, missing }: FileRefusal) =>
  fail<CallbackRefusal>({ code: missing ? 'missing' : 'refused', message });
const whole = z.number().int().nonnegative().optional().catch(undefined);

async function read(params: unknown, signal: AbortSignal, { files, follower }: CallbackNeeds): Answered {
  const parsed = z.object({ path: z.string(), line: whole, limit: whole }).safeParse(params);
  if (!parsed.success) return invalid('A file is read by its path.');
  const text = await readForExecutor(parsed.data, files, (path) =>
    follower.ask<ExecutorAllowed>((handlers) => handlers.mayRead(path), NOBODY, signal),
  );
  return text.ok ? ok({ content: text.value }) : refusedFile(text.error);
}

async function write(params: unknown, signal: AbortSignal, { files, follower }: CallbackNeeds): Answered {
  const parsed = z.object({ path: z.string(), content: z.string() }).safeParse(params);
  if (!parsed.success) return invalid('A file is written by its path and content.');
  const may = (path: string) =>
    follower.ask<ExecutorAllowed>((handlers) => handlers.mayWrite(path, parsed.data.content), NOBODY, signal);
  const written = await writeForExecutor(parsed.data, files, may, signal);
  if (!written.ok) return refusedFile(written.error);
  follower.tell({ what: 'wrote', file: written.value });
  return ok({});
}

const terminalAsked = z.object({
  command: z.string().min(1).max(limits.executorWriteBytes),
  args: z.array(z.string()).max(limits.executorOpenRequests).optional().catch(undefined),
  env: z
    .array(z.object({ name: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), value: z.string() }))
    .max(limits.executorVariables)
    .optional()
    .catch(undefined),
  cwd: z.string().optional().catch(undefined),
  outputByteLimit: whole,
});

async function createTerminal(params: unknown, signal: AbortSignal, needs: CallbackNeeds): Answered {
  const parsed = terminalAsked.safeParse(params);
  if (!parsed.success) return invalid('A terminal is made with a command.');
  const { command, args = [], env = [], cwd, outputByteLimit: outputBytes } = parsed.data;
  const folder = await resolveAnywhere(needs.files.folder, resolve(needs.files.folder, cwd ?? '.'));
  if (!folder.ok) return fail({ code: 'refused', message: folder.error });
  // Rules see a variable as it would stand in front of the command: it may decide which program that is.
  const given = env.map(({ name, value }) => `${name}=${quoted(value)}`);
  const line = [...given, ...(args.length === 0 ? [command] : [command, ...args].map(quoted))].join(' ');
  const asked: ExecutorCommand = { line, command, args, cwd: folder.value.absolute };
  const walled = await needs.walled();
  const allowed = await needs.follower.ask<ExecutorAllowed>((handlers) => handlers.mayRun({ ...asked, walled }), NOBODY, signal);
  if (!allowed.allowed) return fail({ code: 'refused', message: allowed.reason });
  if (signal.aborted) return fail({ code: 'refused', message: 'The prompt is over or was cancelled.' });
  const wanted = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  const environment = { ...needs.environment, ...wanted, ...needs.mark };
  const made = await needs.terminals.create({ command: asked, environment, outputBytes });
  if (signal.aborted) await needs.terminals.stopAll();
  return made.ok ? ok({ terminalId: made.value }) : fail({ code: 'refused', message: made.error });
}

/** As a shell would have to be told. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** Of one terminal, by its id. */
const ofTerminal =
  (use: (id: string, terminals: Terminals) => Promise<Json | undefined>): Callback =>
  async (params, _signal, { terminals }) => {
    const parsed = z.object({ terminalId: z.string() }).safeParse(params);
    const done = parsed.success ? await use(parsed.data.terminalId, terminals) : undefined;
    return done === undefined ? fail({ code: 'missing', message: 'There is no such terminal.' }) : ok(done);
  };

const elicited = z.object({
  mode: z.string(),
  message: z.string().max(limits.executorWriteBytes),
  requestedSchema: z.custom<Json>(),
});

async function elicit(params: unknown, signal: AbortSignal, { follower }: CallbackNeeds): Answered {
  const parsed = elicited.safeParse(params);
  if (!parsed.success || parsed.data.mode !== 'form') return ok({ action: 'decline' });
  const { message, requestedSchema: schema } = parsed.data;
  const said = await follower.ask<ExecutorAnswer>(
    async (handlers, open) => (await handlers.ask?.({ message, schema, signal: open })) ?? { action: 'decline' },
    { action: 'cancel' },
    signal,
  );
  return ok({ ...said });
}

const CALLBACKS: Readonly<Record<string, Callback>> = {
  'session/request_permission': permission,
  'fs/read_text_file': read,
  'fs/write_text_file': write,
  'terminal/create': createTerminal,
  'terminal/output': ofTerminal(async (id, terminals) => {
    const found = terminals.output(id);
    if (found === undefined) return undefined;
    const { text: output, truncated, exit } = found;
    return { output, truncated, ...present({ exitStatus: exit && { ...exit } }) };
  }),
  'terminal/wait_for_exit': ofTerminal(async (id, terminals) => {
    const exit = await terminals.waitForExit(id);
    return exit && { ...exit };
  }),
  'terminal/kill': ofTerminal(async (id, terminals) => ((await terminals.kill(id)) ? {} : undefined)),
  'terminal/release': ofTerminal(async (id, terminals) => ((await terminals.release(id)) ? {} : undefined)),
  'elicitation/create': elicit,
};
