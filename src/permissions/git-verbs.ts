/**
 * What of git loses work, shows files from outside, changes what others see or runs something, verb by verb. `git branch *` is
 * meant for looking and for beginning a branch: a star does not stand for `-D`. Whoever wants that allowed writes it out.
 */

import { list, type Verb } from './program.ts';

/** A strategy is a program of that name; an editor and what signs are programs too. */
const MERGING: Verb = { short: 'seS', long: ['strategy'] };
/** Who signed it is asked of a program. */
const SIGNED: Verb = { long: ['show-signature'], words: /%G/ };

export const GIT_VERBS: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['branch', { short: 'dDmMcCf', long: list('delete move copy force set-upstream-to unset-upstream edit-description') }],
  ['tag', { short: 'dfsv', long: list('delete force sign local-user verify') }],
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
  ['reflog', { ...SIGNED, notVerbs: list('expire delete drop write') }],
  ['notes', { verbs: list('list show') }],
  ['worktree', { verbs: ['list'] }],
  ['submodule', { verbs: list('status summary') }],
  ['bisect', { notVerbs: list('run visualize view replay') }],
  ['bundle', { verbs: list('verify list-heads') }],
  ['push', { short: 'fd', long: list('force force-with-lease force-if-includes mirror delete prune repo'), words: /^\+|^:/ }],
  ['fetch', { short: 'f', long: list('force refmap update-head-ok'), words: /^\+/ }],
  ['pull', { short: 'sfeS', long: list('strategy force verify-signatures'), words: /^\+/ }],
  ['merge', { ...MERGING, long: list('strategy verify-signatures') }],
  ['rebase', { short: 'siS', long: list('strategy interactive') }],
  ['cherry-pick', { short: 'eS', long: ['strategy'] }],
  ['revert', { short: 'eS', long: ['strategy'] }],
  ['commit', { short: 'eS' }],
  ['add', { short: 'ei', long: ['interactive'] }],
  // These run what the settings of the repository name for such files.
  ['cat-file', { long: ['filters'] }],
  ...['log', 'show', 'whatchanged', 'rev-list', 'shortlog'].map((name) => [name, SIGNED] as const),
  ['hash-object', { short: 'w' }],
  ['fsck', { long: ['lost-found'] }],
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
