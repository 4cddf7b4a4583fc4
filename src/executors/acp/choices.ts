/**
 * Mode and model of a session. An executor offers them as modes, as options of its configuration, or not at all; a choice that it
 * does not have is told, never passed over.
 */
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { ExecutorEntry } from '../entry.ts';
import type { ExecutorMode } from '../port.ts';
import type { AcpPeer } from './peer.ts';
import type { ConfigOption, OfferedFacts } from './schemas.ts';

export interface ChosenOption {
  readonly offered: readonly string[];
  readonly current?: string | undefined;
  readonly without: readonly string[];
}

export async function chooseMode(
  wanted: ExecutorMode | undefined,
  facts: OfferedFacts,
  session: string,
  entry: ExecutorEntry,
  peer: AcpPeer,
): Promise<ChosenOption> {
  const option = facts.configOptions?.find((one) => one.category === 'mode' || one.id === 'mode');
  const modes = facts.modes?.availableModes ?? [];
  const choices = modes.length > 0 ? modes.map(({ id, name }) => ({ value: id, name })) : (option?.options ?? []);
  const current = facts.modes?.currentModeId ?? textOf(option?.currentValue);
  const offered = choices.map(({ value }) => value);
  const word = wanted === undefined ? undefined : entry.modes[wanted];
  if (word === undefined) {
    const without = wanted === 'read-only' ? [`${entry.title} has no mode in which it changes nothing.`] : [];
    return { offered, without, ...present({ current }) };
  }
  const chosen = find(word, choices);
  if (chosen === undefined)
    return { offered, ...present({ current }), without: [`${entry.title} has no mode ${word}; it offers ${listed(offered)}.`] };
  if (chosen === current) return { offered, current, without: [] };
  const set =
    modes.length > 0
      ? await peer.request('session/set_mode', { sessionId: session, modeId: chosen }, limits.executorCallMs)
      : await setOption(option, chosen, session, peer);
  if (set.ok) return { offered, current: chosen, without: [] };
  return { offered, ...present({ current }), without: [`${entry.title} did not go into its mode ${word}.`] };
}

export async function chooseModel(
  wanted: string | undefined,
  facts: OfferedFacts,
  session: string,
  entry: ExecutorEntry,
  peer: AcpPeer,
): Promise<ChosenOption> {
  const option = facts.configOptions?.find((one) => one.category === 'model' || one.id === (entry.model ?? 'model'));
  const current = textOf(option?.currentValue);
  const offered = option?.options.map(({ value }) => value) ?? [];
  if (wanted === undefined) return { offered, without: [], ...present({ current }) };
  const chosen = find(wanted, option?.options ?? []);
  if (chosen === undefined)
    return {
      offered,
      ...present({ current }),
      without: [`${entry.title} has no model ${wanted}; it offers ${listed(offered)}.`],
    };
  const set = chosen === current ? { ok: true } : await setOption(option, chosen, session, peer);
  if (set.ok) return { offered, current: chosen, without: [] };
  return { offered, ...present({ current }), without: [`${entry.title} did not take the model ${wanted}.`] };
}

const setOption = (option: ConfigOption | undefined, value: string, session: string, peer: AcpPeer) =>
  peer.request('session/set_config_option', { sessionId: session, configId: option?.id ?? '', value }, limits.executorCallMs);

/** By its id, its name, or the last part of an id that is an address. */
function find(
  word: string,
  choices: readonly { readonly value: string; readonly name?: string | undefined }[],
): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[\s_-]/g, '');
  return (
    choices.find(({ value }) => value === word) ??
    choices.find(({ name }) => name !== undefined && plain(name) === plain(word)) ??
    choices.find(({ value }) => value.endsWith(`#${word}`) || value.endsWith(`/${word}`))
  )?.value;
}

const textOf = (value: string | boolean | undefined): string | undefined => (typeof value === 'string' ? value : undefined);
const SHOWN = 12;
const listed = (offered: readonly string[]): string =>
  offered.length === 0 ? 'none' : `${offered.slice(0, SHOWN).join(', ')}${offered.length > SHOWN ? ', …' : ''}`;
