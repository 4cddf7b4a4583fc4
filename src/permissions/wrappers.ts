/**
 * What may stand before a program without changing what it does: `time`, `env`, `timeout` and their like. Only flags that are
 * known to be harmless are taken off; behind any other one nobody can tell what runs (`env -Strue npm test`), or whether
 * anything does (`timeout --version npm test`).
 */

interface Wrapper {
  /** Flags that stand alone, their values attached where they have one. */
  readonly flags: RegExp;
  /** Flags whose value is the next word. */
  readonly valued?: RegExp;
  /** Words that come between the flags and the program. */
  readonly operands?: RegExp;
  /** Flags that name the folder in which the program runs, with the name where it is attached. */
  readonly folder?: RegExp;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  time: { flags: /^(?:-p|--)$/ },
  command: { flags: /^(?:-p|--)$/ },
  exec: { flags: /^--$/ },
  env: { flags: /^(?:--?|-i|-v|--ignore-environment|--debug|-u.+|--unset=.+)$/, valued: /^-u$/, folder: /^(?:-C|--chdir=)(.*)$/ },
  nice: { flags: /^(?:-n-?\d+|-{1,2}\d+|--adjustment=-?\d+|--)$/, valued: /^-n$/ },
  stdbuf: { flags: /^(?:-[ioe].+|--(?:input|output|error)=.+|--)$/, valued: /^-[ioe]$/ },
  // With `--preserve-status` a program that was stopped may end well.
  timeout: {
    flags: /^(?:-f|-v|--foreground|--verbose|-[ks].+|--(?:kill-after|signal)=.+|--)$/,
    valued: /^-[ks]$/,
    operands: /^[\d.]+[smhd]?$/,
  },
};

export interface Unwrapped {
  /** The program and its arguments; with the wrapper in front where it cannot be taken off. */
  readonly words: readonly string[];
  /** What `env` sets. */
  readonly assigned: ReadonlyMap<string, string>;
  readonly inFolder?: string | undefined;
}

/** Takes off what stands before the program. */
export function unwrapped(given: readonly string[]): Unwrapped {
  const assigned = new Map<string, string>();
  let words = given;
  let inFolder: string | undefined;
  for (let name = words[0] ?? ''; words.length > 1; name = words[0] ?? '') {
    const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
    if (wrapper === undefined) break;
    if (name === 'command' && /^-[vV]$/.test(words[1] ?? '')) return { words: ['type', ...words.slice(2)], assigned };
    const before = takenOff(words.slice(1), wrapper, name === 'env');
    if (before === undefined) break;
    for (const [variable, value] of before.assigned) assigned.set(variable, value);
    inFolder = before.inFolder ?? inFolder;
    words = before.rest;
  }
  return { words, assigned, inFolder };
}

/** Why nothing can be told of a command that a wrapper still stands before. */
export function strangeWrapper([name = '', ...rest]: readonly string[]): string | undefined {
  const isOne = Object.hasOwn(WRAPPERS, name) && rest.length > 0;
  return isOne ? `what ${name} does with ${rest[0]} is not known` : undefined;
}

interface Before {
  readonly rest: readonly string[];
  readonly assigned: ReadonlyMap<string, string>;
  readonly inFolder: string | undefined;
}

/** Nothing where a word is not known, or no program follows. */
function takenOff(words: readonly string[], { flags, valued, operands, folder }: Wrapper, sets: boolean): Before | undefined {
  const assigned = new Map<string, string>();
  let inFolder: string | undefined;
  let at = 0;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const place = folder?.exec(word)?.[1];
    const [, variable, value = ''] = (sets ? /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(word) : undefined) ?? [];
    if (variable !== undefined) assigned.set(variable, value);
    else if (place !== undefined) {
      // From one folder into another one: nobody writes that.
      if (inFolder !== undefined) return undefined;
      if (place === '') at += 1;
      inFolder = place === '' ? words[at] : place;
    } else if (valued?.test(word) === true) at += 1;
    else if (word.startsWith('-') ? !flags.test(word) : operands?.test(word) !== true) break;
  }
  const next = words[at];
  return next === undefined || next.startsWith('-') ? undefined : { rest: words.slice(at), assigned, inFolder };
}
