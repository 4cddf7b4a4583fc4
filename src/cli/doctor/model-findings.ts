/** Whether the models that would be used answer: each is asked for a word, for only that proves address, key and name. */

import type { LoadedAgent } from '../../agents/file/load.ts';
import { limits } from '../../base/limits.ts';
import type { ModelFailure } from '../../events/catalogue.ts';
import { userText } from '../../events/messages.ts';
import type { Finding } from '../../front/project/finding.ts';
import type { UsedModels } from '../../front/project/models.ts';
import { createModelCatalogue } from '../../models/catalogue.ts';
import { isRedirect } from '../../models/failures.ts';
import type { ModelCatalogue, Prices } from '../../models/port.ts';
import { createPrices } from '../../models/prices.ts';
import { modelProblem } from '../../models/reach.ts';
import type { ProjectConfig } from '../../project/config.ts';
import { readableDuration, readableMoney } from '../../projections/readable.ts';
import type { CommandContext } from '../terminal/command.ts';
import { usedModels } from './used-models.ts';

export interface ModelFindingOptions {
  readonly config: ProjectConfig;
  readonly agents: readonly LoadedAgent[];
  /** Says which models they are and asks nobody. */
  readonly offline: boolean;
}

const about = 'model';

/** `unasked`: there was nothing to send, such as for a script. `keyless`: elsewhere there may be a key. */
type Tried =
  | { readonly kind: 'answers' | 'unasked' | 'keyless'; readonly text: string }
  | { readonly kind: 'fails'; readonly text: string; readonly fix: string; readonly reason: ModelFailure['kind'] };

export interface ModelFindings {
  readonly findings: readonly Finding[];
  /** What became of the keys of the providers that were asked. */
  readonly keys: ReadonlyMap<string, 'works' | 'refused'>;
}

interface Desk {
  readonly context: CommandContext;
  readonly config: ProjectConfig;
  readonly catalogue: ModelCatalogue;
  readonly prices: Prices;
}

export async function modelFindings(context: CommandContext, options: ModelFindingOptions): Promise<ModelFindings> {
  const { config, offline } = options;
  const used = await usedModels(context, options);
  if (!used.ok) {
    const [text = '', ...ways] = used.error.split('\n');
    if (offline)
      return untried([{ about, state: 'note', text: 'none is named and no key is set; no server was asked (--offline)' }]);
    return untried([{ about, state: 'broken', text, fix: ways.length === 0 ? undefined : ways.join('\n') }]);
  }
  if (offline) return untried(used.value.map((one) => unasked(one, config)));
  const { providers, prices: overrides, root: folder, keyEnv: env } = config;
  const desk = {
    context,
    config,
    catalogue: createModelCatalogue({ env, clock: context.clock, folder, config: { providers } }),
    prices: createPrices({ clock: context.clock, env, providers, overrides }),
  };
  const lists = used.value.slice(0, limits.doctorModels);
  const tried = await Promise.all(lists.map((one) => tryList(one, desk)));
  const works = tried.some(({ results }) => results.some(({ kind }) => kind === 'answers' || kind === 'unasked'));
  const left = used.value.length - lists.length;
  const rest: readonly Finding[] =
    left === 0 ? [] : [{ about, state: 'note', text: `${left} more that agents name were not tried (doctorModels)` }];
  return { findings: [...tried.map((one) => findingOf(one, works)), ...rest], keys: keysOf(tried) };
}

const untried = (findings: readonly Finding[]): ModelFindings => ({ findings, keys: new Map() });

function keysOf(tried: readonly TriedList[]): ModelFindings['keys'] {
  const keys = new Map<string, 'works' | 'refused'>();
  for (const { models, results } of tried)
    for (const [index, result] of results.entries()) {
      const [provider = ''] = (models[index] ?? '').split('/', 1);
      if (result.kind === 'answers') keys.set(provider, 'works');
      else if (result.kind === 'fails' && result.reason === 'auth' && !keys.has(provider)) keys.set(provider, 'refused');
    }
  return keys;
}

function unasked({ models, why }: UsedModels, { providers, keyEnv: env }: ProjectConfig): Finding {
  const problems = models.map((model) => modelProblem(model, { env, providers }));
  const text = `${models.join(', ')} (${why})`;
  if (problems.includes(undefined)) return { about, state: 'good', text: `${text}: not asked (--offline)` };
  return { about, state: 'note', text: `${text}: ${problems[0] ?? 'cannot be asked'}` };
}

interface TriedList extends UsedModels {
  /** One for each model of the list, up to the first that can be used. */
  readonly results: readonly Tried[];
}

async function tryList(used: UsedModels, desk: Desk): Promise<TriedList> {
  const results: Tried[] = [];
  for (const model of used.models) {
    const result = await tryModel(model, desk);
    results.push(result);
    if (result.kind === 'answers' || result.kind === 'unasked') break;
  }
  return { ...used, results };
}

function findingOf({ models, why, results }: TriedList, othersWork: boolean): Finding {
  const said = results.map(({ text }, index) => `${models[index]}${index === 0 ? ` (${why})` : ''}: ${text}`).join('; ');
  const last = results.at(-1);
  if (last?.kind === 'answers' || last?.kind === 'unasked')
    return results.length === 1
      ? { about, state: 'good', text: said }
      : { about, state: 'note', text: said, fix: 'the next model of the list is used until the first one answers' };
  const failed = results.find((one) => one.kind === 'fails');
  if (failed !== undefined) return { about, state: 'broken', text: said, fix: failed.fix };
  return { about, state: othersWork ? 'note' : 'broken', text: said, fix: 'set the key, or name another model' };
}

async function tryModel(name: string, { context, config, catalogue, prices }: Desk): Promise<Tried> {
  const { clock } = context;
  if (name.startsWith('recorded:ses_')) return { kind: 'unasked', text: 'a recording, nothing to ask' };
  const sources = { env: config.keyEnv, providers: config.providers };
  const opened = await catalogue.open(name);
  if (!opened.ok)
    return opened.error.kind === 'auth' && modelProblem(name, sources) !== undefined
      ? { kind: 'keyless', text: opened.error.message }
      : { kind: 'fails', text: opened.error.message, fix: FIXES.invalid_request, reason: opened.error.kind };
  if (/^(scripted|recorded):/.test(name)) return { kind: 'unasked', text: 'read from a file, nothing to ask' };
  const began = clock.elapsed();
  const outcome = await opened.value.ask({
    system: 'Answer with one word.',
    messages: [userText('Say ok.')],
    tools: [],
    settings: { maxOutputTokens: limits.doctorAnswerTokens },
    idempotencyKey: `doctor/${clock.now()}`,
    timeoutMs: limits.doctorModelMs,
    signal: new AbortController().signal,
  });
  if (outcome.kind === 'failed') return failed(outcome.error);
  const cost = prices.cost(name, outcome.answer.usage);
  const paid = cost === undefined ? 'its price is not known' : `cost ${readableMoney(cost)}`;
  return { kind: 'answers', text: `answered in ${readableDuration(clock.elapsed() - began)}, ${paid}` };
}

function failed(error: ModelFailure): Tried {
  const late = `no answer within ${readableDuration(limits.doctorModelMs)} (doctorModelMs)`;
  const text = error.kind === 'timeout' ? late : error.message;
  return { kind: 'fails', text, fix: fixFor(error), reason: error.kind };
}

/** A status says more than the kind: whether it is the name or the address that is wrong. */
function fixFor({ kind, status, fix }: ModelFailure): string {
  if (fix !== undefined) return fix;
  if (isRedirect(status))
    return 'name the address of the server itself: redirects are not followed, so that a key goes nowhere else';
  if (status === 404 || status === 405)
    return 'correct the name of the model (provider/model), or the address: for many servers it ends in /v1';
  return FIXES[kind] ?? FIXES.other;
}

const FIXES: { readonly [kind in ModelFailure['kind']]?: string } & { readonly invalid_request: string; readonly other: string } =
  {
    auth: 'set the right key, or give its account the right to this model',
    network: 'look at the address and the proxy (docs/models.md), and whether the server runs',
    timeout: 'look at the address and the proxy (docs/models.md), and whether the server runs',
    bad_response: 'look at the address: whoever answers there is no model server',
    rate_limited: 'wait, or use another account',
    overloaded: 'wait, or name another model',
    invalid_request: 'correct the name of the model: provider/model',
    other: 'name another model',
  };
