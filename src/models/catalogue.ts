/**
 * Opens models by name. Real ones are `provider/model`; `scripted:replies.yaml` plays a file and `recorded:ses_…` (or a
 * file of events) repeats a past session. One catalogue shares its connections and hands out each model once.
 */

import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import { messageOf } from '../base/errors.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { ModelFailure } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Model, ModelCatalogue } from './port.ts';
import { aiSdkModel } from './provider/ai-sdk.ts';
import {
  dialectOf,
  findProvider,
  loadModel,
  optionsOf,
  type Provider,
  type ProviderConfig,
  providerNames,
} from './provider/providers.ts';
import { createSentOutput } from './provider/sent-output.ts';
import { createTransport, type Transport } from './provider/transport.ts';
import { readRecording, replayingModel } from './scripted/replaying.ts';
import { readScript } from './scripted/script-file.ts';
import { playScript } from './scripted/scripted.ts';

export interface CatalogueOptions {
  readonly env: Environment;
  readonly clock: Clock;
  /** Where relative paths of scripts and recordings start. */
  readonly folder: string;
  readonly config?: { readonly providers?: Readonly<Record<string, ProviderConfig>> | undefined } | undefined;
  /** Finds the events of a past session, for `recorded:`. */
  readonly readSession?: ((session: string) => Promise<readonly LedgerEvent[] | undefined>) | undefined;
  readonly transport?: Transport | undefined;
}

type Opened = Result<Model, ModelFailure>;

export function createModelCatalogue(options: CatalogueOptions): ModelCatalogue {
  const transport = options.transport ?? createTransport({ env: options.env });
  const opened = new Map<string, Promise<Opened>>();
  const open = async (name: string): Promise<Opened> => {
    const known = opened.get(name);
    if (known !== undefined) return await known;
    const opening = openModel(name, options, transport);
    opened.set(name, opening);
    const result = await opening;
    // A failure may be mended (a key set, a file written), so it is not remembered.
    if (!result.ok) opened.delete(name);
    return result;
  };
  return { open };
}

async function openModel(name: string, options: CatalogueOptions, transport: Transport): Promise<Opened> {
  try {
    if (name.startsWith('scripted:')) return await openScript(name, options);
    if (name.startsWith('recorded:')) return await openRecording(name, options);
    return await openProvider(name, options, transport);
  } catch (error) {
    return fail({ kind: 'invalid_request', message: `The model ${name} cannot be opened: ${messageOf(error)}` });
  }
}

async function openProvider(name: string, options: CatalogueOptions, transport: Transport): Promise<Opened> {
  const sources = { env: options.env, providers: options.config?.providers };
  const slash = name.indexOf('/');
  const model = name.slice(slash + 1);
  const found = slash <= 0 || model === '' ? undefined : findProvider(name.slice(0, slash), sources);
  if (found === undefined) {
    const known = providerNames(sources).map((provider) => `${provider}/…`);
    const names = [...known, 'scripted:<file>', 'recorded:<session or file>'].join(', ');
    return fail({ kind: 'invalid_request', message: `There is no model ${name}. A name is one of ${names}.` });
  }
  if (!found.ok) return found;
  const provider = found.value;
  return ok(
    aiSdkModel({
      model: await loadModel(provider, model, transport),
      id: name,
      account: accountOf(provider),
      dialect: dialectOf(provider),
      clock: options.clock,
      providerOptions: optionsOf(provider),
      ...(provider.kind === 'anthropic' ? { sentOutput: createSentOutput((unsent) => loadModel(provider, model, unsent)) } : {}),
      secrets: provider.apiKey === undefined ? [] : [provider.apiKey],
    }),
  );
}

/** Rate limits hang on the key. It is named by a digest, because the name shows up in logs. */
function accountOf(provider: Provider): string {
  const identity = `${provider.baseURL ?? ''} ${provider.apiKey ?? ''}`;
  return `${provider.name}:${createHash('sha256').update(identity).digest('hex').slice(0, 8)}`;
}

async function openScript(name: string, options: CatalogueOptions): Promise<Opened> {
  const script = await readScript(name.slice('scripted:'.length), options.folder);
  if (!script.ok) return fail({ kind: 'invalid_request', message: script.error });
  return ok(playScript(script.value, { id: name, clock: options.clock }));
}

async function openRecording(name: string, options: CatalogueOptions): Promise<Opened> {
  const source = name.slice('recorded:'.length);
  const events = source.startsWith('ses_') ? await options.readSession?.(source) : await readRecording(source, options.folder);
  if (events === undefined) return fail({ kind: 'invalid_request', message: `There is no recording ${source}.` });
  return ok(replayingModel(events, { id: name }));
}
