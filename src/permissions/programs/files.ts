/** Programs that look at files, text and the machine, and those that make and move files. */
import { type KnownProgram, plain, programs, verbs } from './known.ts';

const GREP = plain(
  '-abcEFGhHiIlLnoPqrRsTUvVwxyzZ -ABCDdefm= --after-context= --before-context= --context=? --color=? --colour=? --include= ' +
    '--exclude= --exclude-dir= --exclude-from= --max-count= --regexp= --file= --line-number --ignore-case --no-ignore-case ' +
    '--invert-match --count --files-with-matches --files-without-match --only-matching --quiet --silent --recursive ' +
    '--dereference-recursive --with-filename --no-filename --fixed-strings --extended-regexp --basic-regexp --perl-regexp ' +
    '--word-regexp --line-regexp --no-messages --null --null-data --text --binary-files= --label= --line-buffered --initial-tab ' +
    '--byte-offset --version --help -#',
);

/** Without `--pre`, `--hostname-bin` and `--search-zip`, which run programs. */
const RIPGREP = plain(
  '-.0abcFhHiIlLnNopPqsSuUvVwx -ABCdeEfgjmMrtT= --after-context= --before-context= --context= --glob= --iglob= --type= --type-not= ' +
    '--type-list --type-add= --files --hidden --no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent --ignore-case --smart-case ' +
    '--case-sensitive --line-number --no-line-number --files-with-matches --files-without-match --count --count-matches ' +
    '--include-zero --only-matching --multiline --multiline-dotall --word-regexp --line-regexp --fixed-strings --invert-match ' +
    '--max-count= --max-depth= --max-columns= --max-columns-preview --max-filesize= --replace= --json --no-heading --heading ' +
    '--color= --colors= --sort= --sortr= --stats --pcre2 --text --vimgrep --with-filename --no-filename --no-messages --null ' +
    '--null-data --passthru --trim --follow --pretty --unrestricted --regexp= --file= --threads= --quiet --column --no-column ' +
    '--no-config --encoding= --engine= --debug --ignore-file= --byte-offset --crlf --no-mmap --one-file-system --context-separator= ' +
    '--field-match-separator= --path-separator= --version --help',
);

/** Without what runs, deletes and writes: `-exec`, `-ok`, `-delete`, `-fprint`, `-fls`. */
const FIND: KnownProgram = {
  at: true,
  oneDash: true,
  options:
    '-name= -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= -regextype= -type= -xtype= -maxdepth= -mindepth= -size= ' +
    '-mtime= -atime= -ctime= -mmin= -amin= -cmin= -newer= -newermt= -newerat= -newerct= -anewer= -cnewer= -user= -group= -uid= -gid= ' +
    '-perm= -links= -inum= -samefile= -lname= -ilname= -fstype= -used= -printf= -empty -print -print0 -ls -prune -not -a -o -and -or ' +
    '-follow -L -H -P -E -X -s -x -d -O1 -O2 -O3 -xdev -mount -depth -readable -writable -executable -nouser -nogroup -quit -true ' +
    '-false -daystart -noleaf -warn -nowarn -ignore_readdir_race --help --version',
};

const FD = plain(
  '-01aFgHiIlLpqsu -cdeEjoSt= --hidden --no-ignore --no-ignore-vcs --unrestricted --case-sensitive --ignore-case --glob --regex ' +
    '--fixed-strings --absolute-path --list-details --follow --full-path --print0 --quiet --max-depth= --min-depth= --exact-depth= ' +
    '--depth= --type= --extension= --exclude= --size= --changed-within= --changed-before= --newer= --older= --owner= --color= ' +
    '--threads= --max-results= --strip-cwd-prefix=? --one-file-system --path-separator= --prune --and= --version --help',
);

const CHECKSUM = plain('-bctwz --check --binary --text --tag --quiet --status --ignore-missing --strict --warn --zero -a=');
const TEST: KnownProgram = {
  at: true,
  oneDash: true,
  options:
    '-e -f -d -r -w -x -s -z -n -h -L -p -S -b -c -g -k -u -O -G -N -t -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o --help --version',
};
const ZIPPER = plain('-# -cdklNnqtv --stdout --decompress --keep --list --quiet --test --verbose --best --fast');

const READING: readonly (readonly [string, KnownProgram])[] = [
  [
    'ls',
    plain(
      '-1aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ -IwT= --all --almost-all --color=? --classify=? --directory --group-directories-first ' +
        '--human-readable --inode --recursive --reverse --size --sort= --time= --time-style= --full-time --ignore= --hide= ' +
        '--block-size= --file-type --format= --indicator-style= --no-group --numeric-uid-gid --si --hyperlink=? --zero --literal ' +
        '--quoting-style= --dereference --width= --version --help',
    ),
  ],
  ...programs(
    'eza exa',
    plain(
      '-1aBDdFfghHilmnRrSTuUx@ -LsI= --all --long --tree --level= --git --icons=? --color=? --sort= --header --oneline --recurse ' +
        '--reverse --group-directories-first --git-ignore --only-dirs --only-files --no-permissions --no-user --no-time --classify=?',
    ),
  ),
  [
    'cat',
    plain(
      '-AbeEnstTuv --number --number-nonblank --show-all --show-ends --show-tabs --show-nonprinting --squeeze-blank --help --version',
    ),
  ],
  ...programs(
    'bat batcat',
    plain('-nAp -lrH= --plain --number --show-all --language= --line-range= --highlight-line= --style= --color= --paging=never'),
  ),
  ['head', plain('-qvz -nc= --lines= --bytes= --quiet --silent --verbose --zero-terminated -#')],
  ['tail', plain('-fFqrvz -ncs= --lines= --bytes= --follow=? --retry --pid= --quiet --silent --verbose --sleep-interval= -#')],
  ['wc', plain('-clLmw --lines --words --bytes --chars --max-line-length --total=')],
  [
    'sort',
    plain(
      '-bcCdfghimMnrRsuVz -ktS= --key= --field-separator= --numeric-sort --human-numeric-sort --reverse --unique --ignore-case ' +
        '--version-sort --stable --check=? --zero-terminated --parallel= --merge --month-sort --general-numeric-sort --random-sort ' +
        '--dictionary-order --ignore-leading-blanks --buffer-size= --debug --sort=',
    ),
  ],
  [
    'uniq',
    plain(
      '-cdDiuz -fsw= --count --repeated --unique --ignore-case --skip-fields= --skip-chars= --check-chars= --all-repeated=? --group=? ' +
        '--zero-terminated',
      { writesFrom: 1 },
    ),
  ],
  [
    'cut',
    plain(
      '-nsz -bcdf= --bytes= --characters= --delimiter= --fields= --only-delimited --complement --output-delimiter= --zero-terminated',
    ),
  ],
  ['tr', plain('-cCdstu --complement --delete --squeeze-repeats --truncate-set1')],
  ...programs('grep egrep fgrep zgrep', GREP),
  ['rg', RIPGREP],
  ['find', FIND],
  ...programs('fd fdfind', FD),
  [
    'tree',
    plain(
      '-aACdDfFhiJlnNpqQrsStuUvxX -IHLP= --dirsfirst --noreport --gitignore --prune --charset= --filelimit= --du --si --sort=? --inodes ' +
        '--matchdirs --metafirst --ignore-case',
    ),
  ],
  [
    'du',
    plain(
      '-0abcDhHklLmPsSx -BdtXI= --all --max-depth= --human-readable --summarize --total --exclude= --apparent-size --block-size= ' +
        '--one-file-system --time=? --threshold= --si --separate-dirs --null --bytes --dereference',
    ),
  ],
  [
    'df',
    plain(
      '-ahHiklmPTv -Btx= --all --human-readable --inodes --type= --exclude-type= --print-type --total --output=? --local --si ' +
        '--portability --block-size=',
    ),
  ],
  ['stat', plain('-Lfrstx -c= --format= --printf= --terse --dereference --file-system')],
  [
    'file',
    plain(
      '-bhiIkLnNprs0 -emFP= --brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going --extension',
    ),
  ],
  ['which', plain('-as --all')],
  ['whereis', plain('-bmsu')],
  ['type', plain('-afptP')],
  ['command', plain('-pvV')],
  ['pwd', plain('-LP')],
  [
    'date',
    plain('-uRjn -I=? -drvf= --date= --iso-8601=? --rfc-3339= --rfc-email --utc --universal --reference=', { words: /^[^+]/ }),
  ],
  ['cal', plain('-13jmsy -AB=')],
  ...programs('echo true false :', { prints: true }),
  ['printf', plain('--help')],
  ...programs('test [', TEST),
  [
    'diff',
    plain(
      '-abBcdeEinNpPqrstTuwyZ -CFISUWXx= --brief --unified=? --color=? --context=? --recursive --side-by-side --ignore-all-space ' +
        '--ignore-space-change --ignore-blank-lines --ignore-case --ignore-trailing-space --new-file --text --width= --exclude= ' +
        '--exclude-from= --strip-trailing-cr --suppress-common-lines --minimal --report-identical-files --label= --no-dereference ' +
        '--left-column --speed-large-files --show-c-function --normal --tabsize= --expand-tabs',
    ),
  ],
  ['cmp', plain('-bls -in= --bytes= --silent --quiet --verbose --print-bytes --ignore-initial=')],
  ['comm', plain('-123iz --check-order --nocheck-order --output-delimiter= --total --zero-terminated')],
  [
    'jq',
    plain(
      '-acCehjMnrRsSV --arg== --argjson== --slurpfile== --rawfile== --args --jsonargs --compact-output --raw-output --raw-input ' +
        '--slurp --null-input --exit-status --sort-keys --color-output --monochrome-output --tab --indent= --join-output --ascii-output ' +
        '--seq --stream --raw-output0 --version --help',
    ),
  ],
  [
    'yq',
    plain(
      '-0CeMnNPrjy -opI= --prettyPrint --output-format= --input-format= --unwrapScalar=? --colors --no-colors --no-doc --exit-status ' +
        '--null-input --indent= --arg== --argjson== --raw-output --yaml-output --header-preprocess=? --version --help',
    ),
  ],
  [
    'sed',
    plain(
      '-nErsuz --quiet --silent --regexp-extended --null-data --separate --sandbox --posix --debug --unbuffered ' +
        '--version --help',
      { code: 1 },
    ),
  ],
  ...programs('awk gawk mawk nawk', plain('-Fv= --field-separator= --assign= --version --help', { code: 1 })),
  [
    'ps',
    plain(
      '-aAcdefFHjlLmMNrTVwxyZ -CgGkopPqstuU= --sort= --no-headers --headers --forest --pid= --ppid= --user= --format= --columns= ' +
        '--cols= --width= --deselect',
    ),
  ],
  [
    'pgrep',
    plain('-acfilnovwx -dgGPstuUF= --full --list-name --list-full --count --newest --oldest --exact --inverse --parent= --euid='),
  ],
  ['lsof', plain('-abClnNOPRtUVw -cdgpu= -i=? -s=?')],
  ['free', plain('-bghklmtvw -cs= --human --mega --giga --total --wide --si')],
  ['uptime', plain('-ps --pretty --since')],
  ['uname', plain('-aimnoprsv --all --kernel-name --machine --kernel-release --operating-system --processor')],
  ['id', plain('-agGnpruz --user --group --groups --name --real')],
  ...programs('whoami groups tty nproc logname users', plain('--all --ignore=')),
  ['who', plain('-abdHlmpqrstTu')],
  ['hostname', plain('-aAdfiIsy --fqdn --long --short --domain --ip-address --all-ip-addresses', { writesFrom: 0 })],
  ['printenv', plain('-0 --null')],
  ['locale', plain('-ackm')],
  ['getconf', plain('-av=')],
  ['sleep', plain('--help')],
  ['seq', plain('-w -fst= --format= --separator= --equal-width')],
  ['expr', plain('--help')],
  ['basename', plain('-az -s= --multiple --suffix= --zero')],
  ['dirname', plain('-z --zero')],
  [
    'realpath',
    plain('-eLmPqsz --canonicalize-existing --canonicalize-missing --relative-to= --relative-base= --no-symlinks --quiet'),
  ],
  ['readlink', plain('-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline')],
  ['nl', plain('-p -bdfhilnsvw= --body-numbering= --number-width= --number-separator=')],
  ...programs('tac rev', plain('-br -s=')),
  ['fold', plain('-bs -w= --width= --spaces')],
  ['fmt', plain('-cstu -wpg= --width=')],
  ...programs('expand unexpand', plain('-ai -t= --tabs= --initial --all')),
  ['paste', plain('-sz -d= --serial --delimiters=')],
  ['join', plain('-iz -12aejotv= --ignore-case --check-order --nocheck-order --header')],
  ['column', plain('-etnxJ -csoNRHlC= --table --separator= --output-separator= --table-columns= --json')],
  ['od', plain('-abcdfhiloxvs -AjNtSw= --address-radix= --format= --read-bytes= --skip-bytes= --width=? --output-duplicates')],
  ['hexdump', plain('-bcCdovx -ens= --canonical --length= --skip= --no-squeezing')],
  ['xxd', plain('-abeEiprRuC -cglos= --version', { writesFrom: 1 })],
  ['strings', plain('-afow -ents= --all --bytes= --radix= --encoding=')],
  ...programs('md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum shasum sum md5', CHECKSUM),
  ...programs('base64 base32', plain('-dDi -w= --decode --ignore-garbage --wrap=')),
  ['iconv', plain('-cls -ft= --from-code= --to-code= --list')],
  [
    'systemctl',
    plain('-alq -tnp= --no-pager --all --type= --state= --property= --user --failed --plain --full', {
      verbs: verbs('status list-units list-unit-files list-timers is-active is-enabled is-failed show cat list-dependencies', {}),
    }),
  ],
  [
    'journalctl',
    plain(
      '-efkrxaq -b=? -nuoptSU= --no-pager --since= --until= --unit= --lines= --follow --output= --priority= --user --dmesg --reverse',
    ),
  ],
];

/** What they do to the files they are given is what they are for. Whole trees are named. */
const CHANGING: readonly (readonly [string, KnownProgram])[] = [
  ['mkdir', plain('-pv -m= --parents --verbose --mode=')],
  ['rmdir', plain('-pv --parents --verbose --ignore-fail-on-non-empty')],
  ['touch', plain('-acmh -drt= --no-create --date= --reference= --time=')],
  [
    'cp',
    plain(
      '-adfHiLnpPrRTuvx --recursive --archive --verbose --no-clobber --update=? --preserve=? --force --interactive --parents',
    ),
  ],
  ['mv', plain('-finTuv --verbose --no-clobber --force --interactive --update=? --no-target-directory')],
  ['ln', plain('-finrsTv --symbolic --force --relative --verbose --no-dereference')],
  ['rm', plain('-dfiIv --force --interactive=? --verbose')],
  ['chmod', plain('-cfv --changes --verbose --quiet --silent')],
  ['tee', plain('-ai --append --ignore-interrupts')],
  [
    'split',
    plain('-dxev -abCln= --numeric-suffixes=? --lines= --bytes= --line-bytes= --number= --additional-suffix= --suffix-length='),
  ],
  ['shuf', plain('-erz -in= --head-count= --input-range= --echo --repeat --zero-terminated')],
  ['dd', { at: true, words: /^of=/ }],
  ...programs('gzip gunzip zcat xz unxz xzcat bzip2 bunzip2 bzcat zstd', ZIPPER),
  ['zip', plain('-jqrvy --recurse-paths --quiet --exclude= -x= -#')],
  ['unzip', plain('-1CjlLpqtvZ')],
  [
    'tar',
    plain(
      '-cxtrujzJvapkmhOSWwlof --list --create --extract --get --gzip --gunzip --bzip2 --xz --zstd --verbose --exclude= ' +
        '--strip-components= --no-same-owner --no-same-permissions --wildcards --auto-compress --to-stdout --keep-old-files ' +
        '--exclude-vcs --exclude-from= --totals=? --append --compare --numeric-owner --sort= --mtime= --owner= --group=',
      // A colon in a name is that of another machine.
      { letters: /^[cxtrujzJvapkmhOSWwlof]+$/, words: /:/ },
    ),
  ],
];

export const FILES: readonly (readonly [string, KnownProgram])[] = [...READING, ...CHANGING];
