/**
 * What of git is harmless, verb by verb: looking, and beginning something new. What loses work, shows files from outside, changes
 * what others see or runs something is not in it, so that a star does not stand for it.
 */
import { type KnownProgram, verbs } from './known.ts';

/** Without `--output`, `--ext-diff`, `--no-index` and `-O`. */
const DIFF =
  '-abDRpsuvwWz -BCM=? -GlSU= --diff-filter= --stat=? --numstat --shortstat --dirstat=? --summary --name-only --name-status --patch ' +
  '--patch-with-stat --no-patch --raw --cached --staged --color=? --no-color --word-diff=? --word-diff-regex= --color-words=? ' +
  '--ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines --minimal --patience ' +
  '--histogram --diff-algorithm= --find-renames=? --find-copies=? --find-copies-harder --no-renames --unified= --function-context ' +
  '--exit-code --quiet --check --no-ext-diff --no-textconv --text --full-index --binary --abbrev=? --no-abbrev --relative=? ' +
  '--no-relative --merge-base --submodule=? --ignore-submodules=? --src-prefix= --dst-prefix= --no-prefix --inter-hunk-context= ' +
  '--pickaxe-all --pickaxe-regex --compact-summary --stat-width= --stat-count= --color-moved=? --no-color-moved --line-prefix= ' +
  '--cc --irreversible-delete --patch-with-raw --ws-error-highlight= -q';
const LOG =
  `${DIFF} -cEFgimPrt -nL= --oneline --graph --no-graph --all --branches=? --tags=? --remotes=? --author= --committer= --grep= ` +
  '--since= --after= --until= --before= --max-count= --skip= --merges --no-merges --first-parent --decorate=? --no-decorate ' +
  '--decorate-refs= --pretty=? --format= --date= --reverse --follow --date-order --topo-order --author-date-order --left-right ' +
  '--left-only --right-only --cherry --cherry-pick --cherry-mark --boundary --full-history --simplify-by-decoration ' +
  '--simplify-merges --ancestry-path=? --walk-reflogs --no-walk=? --parents --children --all-match --invert-grep ' +
  '--regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --abbrev-commit --no-abbrev-commit --relative-date --source ' +
  '--mailmap --no-mailmap --use-mailmap --notes=? --no-notes --min-parents= --max-parents= --no-min-parents --no-max-parents --not ' +
  '--glob= --exclude= --dense --sparse --count --diff-merges= --show-pulls --clear-decorations --expand-tabs=? --no-expand-tabs -#';
const LISTS =
  '--contains=? --no-contains=? --merged=? --no-merged=? --points-at= --sort= --format= --color=? --no-color --column=? --no-column';
/** Not `--abort`, `--skip` and `--quit`: a conflict that somebody has resolved and not committed is nowhere else. */
const GOES_ON = '--continue';
/** A path that leads out of the repository means `--no-index`. */
const OUTSIDE = /^(?:\/|~|\.\.(?:\/|$))|\/\.\.(?:\/|$)/;

/** A folder that is made there may be one that git or another program takes its settings from. */
const ELSEWHERE = new RegExp(`${OUTSIDE.source}|(?:^|/)\\.[^./]`);
/** Branches that are fetched into: with `--prune`, those that are not there are deleted. An address has a colon, too. */
const INTO = /^\+|\*|^(?![a-z][\w+.-]*:\/\/|[\w.-]+@[\w.-]+:).*:/i;

const LOOKING: Readonly<Record<string, KnownProgram>> = {
  status: {
    options:
      '-bsvz -u=? --short --branch --porcelain=? --long --untracked-files=? --ignored=? --show-stash --ahead-behind --no-ahead-behind ' +
      '--renames --no-renames --find-renames=? --column=? --no-column --verbose --ignore-submodules=? --null',
  },
  diff: { options: DIFF, words: OUTSIDE },
  ...verbs('log show whatchanged', { options: LOG }),
  'range-diff': { options: `${DIFF} --creation-factor= --no-dual-color --left-only --right-only` },
  shortlog: {
    options:
      '-censw --summary --numbered --email --committer --group= --format= --since= --until= --after= --before= --author= --grep= --all ' +
      '--no-merges --merges --branches=? --tags=? --remotes=? --date= --first-parent --max-count=',
  },
  'rev-list': { options: `${LOG} --objects --disk-usage=? --header --timestamp --use-bitmap-index` },
  ...verbs('diff-tree diff-index diff-files', { options: `${DIFF} -crtm --root --no-commit-id --pretty=? --always` }),
  reflog: { options: LOG, words: /^(?:expire|delete|drop|write)$/ },
  blame: {
    options:
      '-bcefhlnpstw -CM=? -L= --porcelain --line-porcelain --incremental --date= --since= --root --show-email --show-name --show-number ' +
      '--show-stats --abbrev=? --reverse --first-parent --color-lines --color-by-age',
  },
  grep: {
    options:
      '-acEFGhHiIlLnopPqrvwWz -ABCem= --cached --untracked --line-number --column --name-only --files-with-matches ' +
      '--files-without-match --count --color=? --no-color --break --heading --show-function --function-context --and --or --not ' +
      '--all-match --max-depth= --threads= --recursive --no-recursive --recurse-submodules --only-matching --word-regexp ' +
      '--ignore-case --invert-match --fixed-strings --extended-regexp --basic-regexp --perl-regexp --exclude-standard --text ' +
      '--full-name --after-context= --before-context= --context= --max-count= --quiet -#',
  },
  branch: {
    options:
      '-ailqrtv --list --all --remotes --verbose --show-current --track=? --no-track --quiet --ignore-case --abbrev=? ' +
      `--no-abbrev ${LISTS}`,
  },
  tag: { options: `-ail -n=? -Fm= --list --annotate --message= --file= --create-reflog --ignore-case ${LISTS}` },
  describe: {
    options:
      '--tags --all --always --dirty=? --broken=? --abbrev=? --long --exact-match --match= --exclude= --contains --first-parent ' +
      '--candidates= --debug',
  },
  'rev-parse': {
    options:
      '-q --abbrev-ref=? --short=? --verify --show-toplevel --git-dir --is-inside-work-tree --show-prefix --show-cdup ' +
      '--symbolic-full-name --symbolic --all --branches=? --tags=? --remotes=? --absolute-git-dir --git-common-dir ' +
      '--is-bare-repository --quiet --revs-only --no-revs --flags --no-flags --show-superproject-working-tree --is-inside-git-dir ' +
      '--show-object-format=? --is-shallow-repository --git-path= --path-format= --default= --not --sq',
  },
  'ls-files': {
    options:
      '-cdfikmostuvz -x= --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --exclude= ' +
      '--exclude-standard --error-unmatch --full-name --eol --deduplicate --recurse-submodules --abbrev=? --format= --with-tree= ' +
      '--no-empty-directory',
  },
  'ls-tree': { options: '-dlrtz --name-only --name-status --full-name --full-tree --long --abbrev=? --format= --object-only' },
  'ls-remote': { options: '-hqt --heads --branches --tags --refs --quiet --symref --sort= --exit-code --get-url' },
  'cat-file': { options: '-epst --batch-check=? --batch=? --batch-all-objects --unordered --buffer' },
  'merge-base': { options: '-a --all --is-ancestor --octopus --independent --fork-point' },
  'name-rev': { options: '--tags --all --refs= --exclude= --name-only --no-undefined --always' },
  'show-ref': { options: '-dqs --heads --branches --tags --hash=? --abbrev=? --verify --dereference --quiet --head --exists' },
  'show-branch': { options: '-ar --all --remotes --current --topo-order --date-order --more= --list --sha1-name --no-name' },
  'for-each-ref': { options: `--count= --exclude= --ignore-case --stdin ${LISTS}` },
  'symbolic-ref': { options: '-q --quiet --short --no-recurse', writesFrom: 1 },
  'count-objects': { options: '-Hv --verbose --human-readable' },
  'check-ignore': { options: '-nqvz --quiet --verbose --non-matching --no-index' },
  'check-attr': { options: '-az --all --cached' },
  cherry: { options: '-v --abbrev=?' },
  fsck: {
    options: '--full --no-full --dangling --no-dangling --unreachable --connectivity-only --strict --no-progress --root --tags',
  },
  remote: { options: '-v --verbose', verbs: { show: { options: '-n' }, 'get-url': { options: '--all --push' } } },
  // One name is shown; a value behind it is set.
  config: {
    options:
      '-lz --list --get --get-all --get-regexp --get-urlmatch --global --local --system --worktree --show-origin --show-scope ' +
      '--name-only --null --bool --int --path --type= --default= --includes --no-includes',
    writesFrom: 1,
    words: /^(?:edit|set|unset|rename-section|remove-section)$/,
  },
  worktree: { verbs: { list: { options: '-vz --porcelain --verbose' } } },
  submodule: { options: '-q --quiet', verbs: verbs('status summary', { options: '--cached --recursive --files' }) },
  version: { options: '--build-options' },
};

const WORKING: Readonly<Record<string, KnownProgram>> = {
  add: {
    options:
      '-AfnNpuv --all --no-all --update --dry-run --verbose --intent-to-add --patch --ignore-errors --refresh --renormalize --chmod= ' +
      '--force --sparse',
  },
  commit: {
    options:
      '-aiopqsvz -CFm= --all --message= --file= --quiet --signoff --no-signoff --verbose --dry-run --short --porcelain --allow-empty ' +
      '--allow-empty-message --author= --date= --fixup= --squash= --no-edit --amend --only --include --trailer= --status --no-status ' +
      '--reset-author --no-gpg-sign --patch --reuse-message= --branch --cleanup=',
  },
  rm: { options: '-nqr --cached --dry-run --quiet --ignore-unmatch --sparse' },
  mv: { options: '-knv --verbose --dry-run' },
  stash: {
    options: '-akpqSu -m= --keep-index --no-keep-index --include-untracked --all --quiet --staged --message= --patch',
    verbs: {
      list: { options: LOG },
      show: { options: `${DIFF} --include-untracked --only-untracked` },
      ...verbs('push save', {}),
      ...verbs('pop apply', { options: '--index' }),
      branch: {},
      create: {},
    },
  },
  // Of files it throws changes away, and a name may be that of a file; `git switch` takes branches only.
  checkout: {
    options: '-bdlqt --track=? --no-track --detach --orphan --quiet --guess --no-guess --progress --no-progress',
    words: /^--$/,
    onlyShows: /^(?:-q )?(?:-$|(?:--|-b|--orphan|--detach|-t|--track) )/,
  },
  // Without `--staged` it always does.
  restore: { options: '-qS --staged --quiet --progress --no-progress', onlyShows: /^(?:-q )?(?:--staged|-S)(?: |$)/ },
  switch: {
    options: '-dqt -c= --create= --detach --track=? --no-track --guess --no-guess --quiet --orphan= --progress --no-progress',
  },
  reset: { options: '-Nq --soft --mixed --quiet --no-quiet --no-refresh --intent-to-add' },
  merge: {
    options:
      '-nqv -mX= --strategy-option= --ff --no-ff --ff-only --squash --no-squash --no-commit --commit --no-edit --stat ' +
      '--no-stat --message= --log=? --quiet --verbose --autostash --no-autostash --signoff --no-verify-signatures ' +
      `${GOES_ON}`,
  },
  rebase: {
    options:
      '-nqv -X= --strategy-option= --onto= --autostash --no-autostash --autosquash --no-autosquash --stat --no-stat ' +
      '--keep-base --root --quiet --verbose --fork-point --no-fork-point --update-refs --no-update-refs ' +
      `--rebase-merges=? --signoff --show-current-patch --committer-date-is-author-date ${GOES_ON}`,
  },
  'cherry-pick': {
    options: `-nsx -mX= --no-commit --signoff --mainline= --allow-empty --ff --keep-redundant-commits ${GOES_ON}`,
  },
  revert: { options: `-ns -mX= --no-edit --no-commit --signoff --mainline= ${GOES_ON}` },
  push: {
    options:
      '-46nquv --quiet --verbose --dry-run --set-upstream --tags --follow-tags --no-follow-tags --progress --no-progress --porcelain ' +
      '--atomic --no-atomic --all --branches --thin --no-thin --ipv4 --ipv6',
    words: /^[+:]/,
  },
  // Not `--prune-tags`: tags of one's own are on no other machine.
  fetch: {
    options:
      '-46apqtv -j= --all --prune --tags --no-tags --dry-run --depth= --deepen= --unshallow --quiet --verbose --progress ' +
      '--no-progress --shallow-since= --jobs= --append --multiple --no-recurse-submodules --ipv4 --ipv6 --porcelain --atomic',
    words: INTO,
  },
  pull: {
    options:
      '-46nqrv -X= --strategy-option= --rebase=? --no-rebase --ff --ff-only --no-ff --autostash --no-autostash --all --tags --no-tags ' +
      '--prune --quiet --verbose --depth= --no-edit --stat --no-stat --squash --no-commit --commit --progress --no-progress',
    words: INTO,
  },
  clone: {
    options:
      '-46nqv -b= --depth= --branch= --single-branch --no-single-branch --no-checkout --bare --mirror --quiet --verbose --progress ' +
      '--shallow-since= --no-tags --filter= --sparse',
    words: ELSEWHERE,
  },
  init: { options: '-q -b= --quiet --bare --initial-branch= --object-format=', words: ELSEWHERE },
  // Whether it would delete without `-f` is a setting.
  clean: { options: '-dnqxX -e= --dry-run --exclude= --quiet', onlyShows: /(?:^| )(?:-[dqxX]*n[dnqxX]*|--dry-run)(?: |$)/ },
  apply: {
    options:
      '-3NqRvz -Cp= --check --stat --numstat --summary --index --cached --reverse --verbose --quiet --recount --whitespace= --3way ' +
      '--exclude= --include= --reject --ignore-whitespace --ignore-space-change',
  },
};

/** These are known, but wanted only where a rule names them. */
const NAMED: Readonly<Record<string, KnownProgram>> = {
  notes: { named: true, verbs: verbs('list show', {}) },
  bisect: { named: true, options: '--no-checkout --first-parent', words: /^(?:run|visualize|view|replay|reset)$/ },
  archive: { named: true, options: '-lv --list --verbose --format=tar,zip,tgz,tar.gz -#' },
  bundle: { named: true, verbs: verbs('verify list-heads', { options: '-q --quiet' }) },
};

export const GIT: KnownProgram = {
  options: '--no-pager --no-optional-locks --literal-pathspecs --no-replace-objects --version',
  at: true,
  // Who signed something is asked of a program.
  never: /%G|%\(signature/,
  // A helper is a program of that name.
  words: /^[a-z\d+.-]+::/i,
  verbs: { ...LOOKING, ...WORKING, ...NAMED },
};
