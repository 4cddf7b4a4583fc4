/** Ways to break the console. */
import type { Mutation } from './mutation-list.ts';

const store = 'console/store/store.test.ts';

export const consoleMutations: readonly Mutation[] = [
  {
    invariant: 'V4: the page of the console runs nothing inline',
    change: 'inline scripts are allowed',
    file: 'src/http/console/files.ts',
    find: '"script-src \'self\'"',
    replace: "\"script-src 'self' 'unsafe-inline'\"",
    caughtBy: { file: 'src/http/console/files.test.ts', test: 'may run and load nothing but their own' },
  },
  {
    invariant: 'V2: any moment is what a fold from the beginning says',
    change: 'a snapshot is the fold itself, which goes on',
    file: 'console/store/history.ts',
    find: 'snapshots.push(copyFold(fold))',
    replace: 'snapshots.push(fold)',
    caughtBy: { file: store, test: 'is at any event what a fold from the beginning says' },
  },
  {
    invariant: 'V2: any moment is what a fold from the beginning says',
    change: 'what was looked at last is taken for what is asked for now',
    file: 'console/store/history.ts',
    find: 'latest.count <= count && ',
    replace: '',
    caughtBy: { file: store, test: 'is at any event what a fold from the beginning says' },
  },
];
