/** How what two runs have and do not have in common is said, in the terminal and in the console alike. */
import type { ComparedAct, ComparedTerm, Divergence, SameSteps } from './compared.ts';

export const TERM_WORDS: Readonly<Record<ComparedTerm['what'], string>> = {
  agent: 'another agent',
  prompt: 'another prompt',
  model: 'another model',
  system: 'another system prompt',
  tools: 'other tools',
  settings: 'other settings of the agent',
};

export const DIVERGENCE_WORDS: Readonly<Record<Divergence['kind'], string>> = {
  changed: 'they do something else',
  answer: 'they were answered something else',
  result: 'the same call came to something else',
  only_a: 'only A does it',
  only_b: 'only B does it',
};

const VERBS: Readonly<Record<ComparedAct['kind'], string>> = {
  call: '',
  start: 'starts ',
  decision: '',
  answer: 'is answered ',
  failure: 'fails: ',
  words: 'says ',
  end: 'ends ',
};

export const sameText = ({ count, moved }: Pick<SameSteps, 'count' | 'moved'>): string =>
  `= ${count === 1 ? '1 step is' : `${count} steps are`} the same${moved === 0 ? '' : `, ${moved} in another order`}`;

/** What was done, as it is recorded: whoever shows it makes it harmless. */
export function actText(act: Pick<ComparedAct, 'kind' | 'name' | 'given'> | null): string | null {
  if (act === null) return null;
  const { kind } = act;
  const name = `${VERBS[kind]}${kind === 'answer' || kind === 'words' ? '' : act.name}`;
  return `${name} ${kind === 'end' || kind === 'start' ? '' : act.given}`.trim();
}

export const actResult = (act: Pick<ComparedAct, 'result' | 'failed'> | null): string | null =>
  act === null || act.result === null ? null : `${act.failed ? 'failed: ' : ''}${act.result}`;
