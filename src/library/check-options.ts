/** What a program may give, name by name: a misspelled option is an error and not one that is passed over. */
import {
  type ChecksOf,
  hasMethods,
  hasOnly,
  isAmount,
  isCount,
  isFunction,
  isObject,
  isOneOf,
  isText,
  listOf,
  requireGiven,
} from '../base/check-given.ts';
import { TroupeError } from '../base/errors.ts';
import type { RunId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { Budget } from '../events/catalogue.ts';
import { userMessage } from '../events/message-schemas.ts';
import { type UserMessage, userText } from '../events/messages.ts';
import type { CompanyOptions, ResumeOptions, RunOptions, TroupeOptions } from './run-options.ts';

const budget: ChecksOf<Budget> = { usd: isAmount, tokens: isCount, calls: isCount, depth: isCount, wallMs: isCount };

export const budgetCheck = hasOnly(budget);

const company: ChecksOf<CompanyOptions> = {
  signal: hasMethods('an AbortSignal', 'addEventListener', 'removeEventListener', 'throwIfAborted'),
  whenAborted: isOneOf('cancel', 'pause'),
  onEvent: isFunction,
  onText: isFunction,
  approve: isFunction,
  answer: isFunction,
};

const running: ChecksOf<RunOptions> = { ...company, budget: budgetCheck, workspace: isText, session: isText };

const resuming: ChecksOf<ResumeOptions> = { ...company, budget: budgetCheck, model: isText, maxTurns: isCount };

const madeWith =
  (maker: string, ...keys: readonly string[]) =>
  (value: unknown): string | undefined =>
    isObject(value) === undefined && keys.every((key) => key in Object(value)) ? undefined : `must be made with ${maker}`;

/** What `createTroupe` and a temporary project are both given. */
export const broughtChecks = {
  agents: listOf(madeWith('defineAgent', 'name', 'source', 'models', 'prompt')),
  tools: listOf(madeWith('defineTool', 'name', 'inputSchema', 'replay', 'run')),
};

const opening: ChecksOf<TroupeOptions> = {
  ...broughtChecks,
  root: isText,
  env: isObject,
  model: isText,
  modelForAll: isText,
};

export const checkOpening = (given: unknown): void => requireGiven('createTroupe', given, opening);
export const checkRunning = (given: unknown): void => requireGiven('run', given, running);
export const checkResuming = (given: unknown): void => requireGiven('resume', given, resuming);

/** Takes apart what the one-liner is given, which opens a project and runs an agent in it. */
export function splitOptions(given: TroupeOptions & RunOptions): { readonly opens: TroupeOptions; readonly runs: RunOptions } {
  requireGiven('run', given, { ...opening, ...running });
  const { root, env, agents, tools, model, modelForAll, ...runs } = given;
  return { opens: { root, env, agents, tools, model, modelForAll }, runs };
}

export function requireAgentName(agent: unknown): void {
  if (isText(agent) === undefined) return;
  const fix = 'Name it; one made with defineAgent is given in `agents` first, and then named.';
  throw new TroupeError('usage', `run: the agent ${isText(agent)}.`, { fix });
}

/** The id of a run from wherever the program kept it. */
export function runIdOf(text: string): RunId {
  if (typeof text === 'string' && text.startsWith('run_')) return text as RunId;
  throw new TroupeError('usage', `resume: ${JSON.stringify(text)} is not the id of a run.`, {
    fix: 'Give the `run` of a result, or an id that `troupe ps --all --json` shows.',
  });
}

export function requestOf(prompt: unknown): UserMessage {
  if (typeof prompt === 'string') {
    if (prompt.trim() === '') throw new TroupeError('usage', 'The prompt is empty.', { fix: 'Say what the agent should do.' });
    if (Buffer.byteLength(prompt) > limits.promptBytes)
      throw new TroupeError('usage', `The prompt is larger than ${limits.promptBytes} bytes (limit promptBytes).`, {
        fix: 'Put the text into a file of the workspace and name the file in the prompt.',
      });
    return userText(prompt);
  }
  const message = userMessage.safeParse(prompt);
  if (message.success && message.data.content.length > 0) return message.data;
  throw new TroupeError('usage', 'The prompt is neither a text nor a message of a user.', {
    fix: 'Give a text, or what `userText` gives.',
  });
}
