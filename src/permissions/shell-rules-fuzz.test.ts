/**
 * Ten thousand generated lines against the rules. Those that would be allowed are run by real shells in which every program notes
 * that it ran: whatever did is named by a rule, and no file was written. The rules are read anew here, by other means.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lineRuns } from './line-runs.ts';
import type { RuleMap } from './rule-map.ts';
import { decideLine } from './shell-rules.ts';

const RULES: RuleMap = {
  'free *': 'allow',
  'one x': 'allow',
  'part a*': 'allow',
  'echo *': 'allow',
  'env *': 'allow',
  'nice *': 'allow',
  'xargs *': 'allow',
  'find *': 'allow',
  'sh *': 'allow',
};
/** What ran, with its arguments, in the eyes of somebody who reads the rules above by hand. */
const NAMED: Readonly<Record<string, (args: readonly string[]) => boolean>> = {
  free: () => true,
  one: (args) => args.length === 1 && args[0] === 'x',
  part: ([first = '']) => first.startsWith('a'),
  env: () => true,
  nice: () => true,
  xargs: () => true,
  find: () => true,
  sh: () => true,
};
const STUBS = ['free', 'one', 'part', 'evil', 'rm', 'git', 'npm'];
const REAL = ['env', 'nice', 'xargs', 'find', 'sh'];
const RUN_IN_SHELLS = 250;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-rules-'));
  for (const name of ['bin', 'lines', 'work']) mkdirSync(join(folder, name));
  const stub = (name: string, then: string): void => {
    const path = join(folder, 'bin', name);
    // Written at once: lines run in the background, too.
    const note = `record=${name}; for one in "$@"; do record="$record\x1f$one"; done`;
    writeFileSync(path, `#!/bin/sh\n${note}\nprintf '%s\\036' "$record" >> ${folder}/ran\n${then}\n`);
    chmodSync(path, 0o755);
  };
  for (const name of STUBS) stub(name, 'exit 0');
  for (const name of REAL) stub(name, `exec /usr/bin/${name} "$@"`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const name = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('free', 'one', 'part', 'echo') },
  { weight: 1, arbitrary: fc.constantFrom('evil', 'rm', './evil', 'ev"il"', "'evil'", '$V', 'one$IFS', '\\evil', 'part', 'on*') },
);
const plainArgument = fc.constantFrom(
  'x',
  'x',
  'a',
  'ab',
  'a\\ b',
  "'x'",
  '"x"',
  '""',
  'x;',
  'y',
  '--',
  '#x',
  "'$(evil)'",
  '\\$V',
  '=',
);
const line = fc.letrec<{ list: string; item: string; one: string; argument: string; front: string; behind: string }>((tie) => ({
  list: fc
    .tuple(
      tie('item'),
      fc.array(fc.tuple(fc.constantFrom(' && ', ' || ', '; ', '\n', ' | ', ' & ', '|', ';'), tie('item')), { maxLength: 2 }),
    )
    .map(([first, more]) => first + more.map(([mark, item]) => mark + item).join('')),
  item: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 12, arbitrary: tie('one') },
    { weight: 1, arbitrary: tie('list').map((list) => `( ${list} )`) },
    { weight: 1, arbitrary: tie('list').map((list) => `{ ${list}; }`) },
    { weight: 1, arbitrary: tie('one').map((one) => `! ${one}`) },
    { weight: 1, arbitrary: tie('list').map((list) => `sh -c '${list.replaceAll("'", '')}'`) },
    { weight: 1, arbitrary: tie('one').map((one) => `env ${one}`) },
    { weight: 1, arbitrary: tie('one').map((one) => `nice -n 1 ${one}`) },
    { weight: 1, arbitrary: tie('one').map((one) => `echo evil | xargs ${one}`) },
    { weight: 1, arbitrary: tie('one').map((one) => `find . -maxdepth 0 -exec ${one} {} \\;`) },
    { weight: 1, arbitrary: tie('list').map((list) => `if ${list}; then ${list}; fi`) },
    { weight: 1, arbitrary: tie('list').map((list) => `free() { ${list}; }`) },
    { weight: 1, arbitrary: tie('list').map((list) => `eval '${list.replaceAll("'", '')}'`) },
    { weight: 1, arbitrary: tie('list').map((list) => `free <<E\n${list}\nE`) },
    { weight: 1, arbitrary: tie('list').map((list) => `sh <<'E'\n${list}\nE\n`) },
  ),
  front: fc.oneof(
    { weight: 20, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom('V=1 ', 'PATH=. ', 'x\\=1 ', '> f ', '2>&1 ') },
  ),
  behind: fc.oneof(
    { weight: 20, arbitrary: fc.constant('') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        ' > f',
        ' >> f',
        ' 2>&1',
        ' > /dev/null',
        ' < /dev/null',
        ' &> f',
        ' >& f',
        ' # y',
        ' <> f',
        ' 2> $V',
      ),
    },
  ),
  one: fc
    .tuple(tie('front'), name, fc.array(tie('argument'), { maxLength: 2 }), tie('behind'))
    .map(([front, program, given, behind]) => front + [program, ...given].join(' ') + behind),
  argument: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 12, arbitrary: plainArgument },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '$V',
        '"$V"',
        '*',
        '{a,evil}',
        '~',
        '$(',
        '`',
        "'",
        '"',
        `$\{V}`,
        `$\{V:-x}`,
        '$((1))',
        '$',
        '<(evil)',
        "$'x'",
      ),
    },
    { weight: 1, arbitrary: tie('list').map((list) => `$(${list})`) },
    { weight: 1, arbitrary: tie('list').map((list) => `"$(${list})"`) },
    { weight: 1, arbitrary: tie('one').map((one) => `\`${one}\``) },
  ),
})).list;
/** A sign put in, taken out or written twice somewhere: what no grammar would give. */
const noise = fc.constantFrom(
  "'",
  '"',
  '`',
  '$',
  '(',
  ')',
  '{',
  '}',
  ';',
  '&',
  '|',
  '<',
  '>',
  '\\',
  '\n',
  '#',
  ' ',
  '\r',
  '\u00a0',
  '!',
  '$(evil)',
  ';evil;',
  '\\\n',
);
const generated = fc
  .tuple(line, fc.array(fc.tuple(fc.nat(), noise), { maxLength: 2 }), fc.boolean())
  .map(([text, changes, isNoisy]) =>
    isNoisy
      ? changes.reduce((now, [at, sign]) => now.slice(0, at % (now.length + 1)) + sign + now.slice(at % (now.length + 1)), text)
      : text,
  );

describe('generated lines', () => {
  it('ask when they are not understood, and run only what a rule names', () => {
    const allowed = new Set<string>();
    const count = { understood: 0, not: 0 };
    fc.assert(
      fc.property(generated, (text) => {
        const verdict = decideLine(text, [RULES], {});
        const isUnderstood = lineRuns(text).ok;
        count[isUnderstood ? 'understood' : 'not'] += 1;
        if (!isUnderstood) expect(verdict, text).toBe('ask');
        if (verdict === 'allow') allowed.add(text);
      }),
      { numRuns: 10_000 },
    );
    expect(count.not).toBeGreaterThan(1_000);
    expect(count.understood).toBeGreaterThan(1_000);
    expect(allowed.size).toBeGreaterThan(RUN_IN_SHELLS);
    // The longest say most.
    const lines = [...allowed].sort((left, right) => right.length - left.length).slice(0, RUN_IN_SHELLS);
    for (const shell of ['/bin/sh', '/bin/bash']) expect(strangers(shell, lines), shell).toEqual([]);
    expect(readdirSync(join(folder, 'work'))).toEqual([]);
  });
});

/** What ran in a real shell without a rule that names it, by the line. */
function strangers(shell: string, lines: readonly string[]): readonly string[] {
  for (const [index, text] of lines.entries()) writeFileSync(join(folder, 'lines', String(index)), text);
  writeFileSync(join(folder, 'ran'), '');
  const one = `printf '%s\\035' $index >> ../ran; ${shell} ../lines/$index`;
  const each = `index=0; while [ $index -lt ${lines.length} ]; do ${one}; index=$((index+1)); done`;
  spawnSync('/bin/sh', ['-c', each], {
    cwd: join(folder, 'work'),
    stdio: 'ignore',
    env: { PATH: join(folder, 'bin'), V: 'evil', HOME: 'evil' },
  });
  const found = readFileSync(join(folder, 'ran'), 'utf8')
    .split('\x1e')
    .filter((one) => one !== '');
  let [current, ran] = ['', 0];
  const wrong: string[] = [];
  for (const record of found) {
    const parts = record.split('\x1d');
    const call = parts.pop() ?? '';
    if (parts.length > 0) current = lines[Number(parts.at(-1))] ?? '';
    if (call === '') continue;
    ran += 1;
    const [program = '', ...args] = call.split('\x1f');
    if (NAMED[program]?.(args) !== true) wrong.push(`${JSON.stringify(current)} ran ${JSON.stringify([program, ...args])}`);
  }
  expect(ran).toBeGreaterThan(lines.length);
  return wrong;
}
