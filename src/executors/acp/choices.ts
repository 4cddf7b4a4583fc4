/**
 * Mode and model of a session. An executor offers them as modes, as options of its configuration, or not at all; a choice that it
 * does not have is told, never passed over.
 */
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { ProtocolDialect } from '../acp-wire/dialect.ts';
import type { AcpPeer } from '../acp-wire/peer.ts';
import type { ConfigOption, OfferedFacts } from '../acp-wire/schemas.ts';
import type { ExecutorEntry } from '../entry.ts';
import type { ExecutorMode } from '../port.ts';

export interface ChosenOption {
  readonly offered: readonly string[];
  readonly current?: string | undefined;
  readonly without: readonly string[];
}

interface ChoiceNeeds {
  readonly entry: ExecutorEntry;
  readonly peer: AcpPeer;
  readonly dialect: ProtocolDialect;
}

export async function chooseMode(
  wanted: ExecutorMode | undefined,
  facts: OfferedFacts,
  session: string,
  { entry, peer, dialect }: ChoiceNeeds,
): Promise<ChosenOption> {
  const option = modeOption(facts);
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
      : await peer.request(SET_OPTION, dialect.option(session, option?.id ?? '', chosen), limits.executorCallMs);
  if (set.ok) return { offered, current: chosen, without: [] };
  return { offered, ...present({ current }), without: [`${entry.title} did not go into its mode ${word}.`] };
}

export async function chooseModel(
  wanted: string | undefined,
  facts: OfferedFacts,
  session: string,
  { entry, peer, dialect }: ChoiceNeeds,
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
  const set =
    chosen === current
      ? { ok: true }
      : await peer.request(SET_OPTION, dialect.option(session, option?.id ?? '', chosen), limits.executorCallMs);
  if (set.ok) return { offered, current: chosen, without: [] };
  return { offered, ...present({ current }), without: [`${entry.title} did not take the model ${wanted}.`] };
}

/** Where its mode is an option like any other. */
export const modeOption = ({ configOptions }: OfferedFacts): ConfigOption | undefined =>
  configOptions?.find((one) => one.category === 'mode' || one.id === 'mode');

const SET_OPTION = 'session/set_config_option';

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
