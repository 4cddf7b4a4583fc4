/** Ways to break how tasks are handed over, judged and put together. */
import type { Mutation } from './mutation-list.ts';

const PLAYED = 'src/patterns/patterns.test.ts';

export const taskMutations: readonly Mutation[] = [
  {
    invariant: 'An architect has no hands, whatever its file says',
    change: 'it gets the tools of its file',
    file: 'src/engine/run/prepare.ts',
    find: 'const tools = handless ? ok(own.value.filter(onlyLooks)) : own;',
    replace: 'const tools = own;',
    caughtBy: { file: PLAYED, test: 'it has no hands, whatever its file says' },
  },
  {
    invariant: 'Work whose acceptance fails cannot be accepted',
    change: 'the word of the architect counts',
    file: 'src/patterns/architect/judging.ts',
    find: 'if (failed !== undefined) return',
    replace: 'if (failed === null) return',
    caughtBy: { file: PLAYED, test: 'work that fails its acceptance cannot be accepted' },
  },
  {
    invariant: 'A line that was judged is never proved',
    change: 'it counts like one that was run',
    file: 'src/patterns/architect/judging.ts',
    find: "lines.every(({ how, met }) => how === 'run' && met)",
    replace: 'lines.every(({ met }) => met)',
    caughtBy: { file: PLAYED, test: 'a line that is no command is judged, and never proved' },
  },
  {
    invariant: 'Tasks about the same files are never worked on at once',
    change: 'they are',
    file: 'src/patterns/architect/waves.ts',
    find: 'wave.length < parallel && !meets',
    replace: 'wave.length < parallel',
    caughtBy: { file: PLAYED, test: 'tasks about the same files come one after the other' },
  },
  {
    invariant: 'Questions before a task are bounded',
    change: 'there may always be one more round',
    file: 'src/patterns/architect/architect.ts',
    find: 'rounds >= settings.clarifyRounds ? [CLARIFY] : []',
    replace: 'rounds > settings.clarifyRounds ? [CLARIFY] : []',
    caughtBy: { file: PLAYED, test: 'questions come in rounds that are counted, and then it must decide' },
  },
  {
    invariant: 'Whoever is slow but moves is never stopped',
    change: 'only files count as progress',
    file: 'src/patterns/architect/stall.ts',
    find: '!before.files.includes(seen.files) || !before.tests.includes(seen.tests)',
    replace: '!before.files.includes(seen.files)',
    caughtBy: { file: 'src/patterns/architect/stall.test.ts', test: 'only tests, one more each time' },
  },
  {
    invariant: 'To and fro is no progress',
    change: 'whatever differs from the last look is new',
    file: 'src/patterns/architect/stall.ts',
    find: 'const known = (words: readonly string[], word: string) => (words.includes(word) ? words : [...words, word]);',
    replace: 'const known = (_words: readonly string[], word: string) => [word];',
    caughtBy: { file: 'src/patterns/architect/stall.test.ts', test: 'to and fro between two states' },
  },
  {
    invariant: 'What lies outside of a task is taken back before its acceptance is run',
    change: 'nothing is captured',
    file: 'src/engine/run/drive-run.ts',
    find: 'await captureTask(tree, node);',
    replace: '',
    caughtBy: { file: PLAYED, test: 'what is written outside of its scope is taken back and told' },
  },
];
