/**
 * What of git loses work, shows files from outside, changes what others see or runs something, verb by verb. `git branch *` is
 * meant for looking and for beginning a branch: a star does not stand for `-D`. Whoever wants that allowed writes it out.
 */

export interface Verb {
  readonly short?: string;
  readonly long?: readonly string[];
  /** The word behind the verb says what is done, and a star stands for these only. */
  readonly verbs?: readonly string[];
  /** Words behind the verb that a star does not stand for. */
  readonly notVerbs?: readonly string[];
  readonly words?: RegExp;
  /** With words behind it that begin so it loses nothing; without, a star stands for no word behind the verb. */
  readonly onlyShows?: RegExp;
}

const list = (text: string): readonly string[] => text.split(' ');

/** A strategy is a program of that name. */
const MERGING: Verb = { short: 's', long: ['strategy'] };

export const GIT_VERBS: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['branch', { short: 'dDmMcCf', long: list('delete move copy force set-upstream-to unset-upstream edit-description') }],
  ['tag', { short: 'dfs', long: list('delete force sign local-user') }],
  ['stash', { notVerbs: list('drop clear') }],
  ['remote', { verbs: list('show get-url') }],
  [
    'config',
    {
      short: 'e',
      long: list('add replace-all unset unset-all rename-section remove-section edit'),
      onlyShows: /^(?:--get(?:-all|-regexp|-urlmatch)?|--list|-l|get|list)(?: |$)/,
    },
  ],
  ['reflog', { notVerbs: list('expire delete drop write') }],
  ['notes', { verbs: list('list show') }],
  ['worktree', { verbs: ['list'] }],
  ['submodule', { verbs: list('status summary') }],
  ['bisect', { notVerbs: list('run visualize view replay') }],
  ['bundle', { verbs: list('verify list-heads') }],
  ['push', { short: 'fd', long: list('force force-with-lease force-if-includes mirror delete prune repo'), words: /^\+|^:/ }],
  ['fetch', { short: 'f', long: list('force refmap update-head-ok'), words: /^\+/ }],
  ['pull', { ...MERGING, short: 'sf', long: list('strategy force'), words: /^\+/ }],
  ['merge', MERGING],
  ['rebase', { short: 'si', long: list('strategy interactive') }],
  ['cherry-pick', { long: ['strategy'] }],
  ['revert', { long: ['strategy'] }],
  ['reset', { long: list('hard merge keep') }],
  // Of files it throws changes away, and a name may be that of a file; `git switch` takes branches only.
  [
    'checkout',
    { short: 'fB', long: list('force ours theirs'), words: /^--$/, onlyShows: /^(?:-$|(?:--|-b|--orphan|--detach|-t|--track) )/ },
  ],
  // Without `--staged` it always does.
  ['restore', { short: 'W', long: list('worktree pathspec-from-file'), onlyShows: /^(?:--staged|-S)(?: |$)/ }],
  ['switch', { short: 'f', long: list('force discard-changes force-create') }],
  // A path that leads out of the repository means `--no-index`.
  ['diff', { long: ['no-index'], words: /^(?:\/|~|\.\.(?:\/|$))|\/\.\.(?:\/|$)/ }],
  ['grep', { short: 'f', long: ['no-index'] }],
  ['blame', { short: 'S', long: list('contents ignore-revs-file') }],
  ['clean', { short: 'fi', long: list('force interactive') }],
  ['rm', { short: 'f', long: ['force'] }],
  ['mv', { short: 'f', long: ['force'] }],
  ['apply', { long: list('unsafe-paths directory') }],
  ['archive', { long: ['remote'] }],
  ['difftool', { short: 'tx', long: list('tool extcmd') }],
  ['mergetool', { short: 't', long: ['tool'] }],
  ['filter-branch', { verbs: [] }],
  ['send-email', { long: list('smtp-server sendmail-cmd to-cmd cc-cmd header-cmd') }],
  ['instaweb', { short: 'db', long: list('httpd browser module-path') }],
  ['daemon', { long: list('access-hook base-path enable allow-override') }],
]);
