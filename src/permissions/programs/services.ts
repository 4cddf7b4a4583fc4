/** Programs that speak with other machines, and with what keeps containers and packages. */
import { type KnownProgram, plain, programs, verbs } from './known.ts';

/** Curl and wget know other kinds of addresses: files of this machine, and what talks to other services. */
const NO_PAGE = /^(?!https?:\/\/)(?:[^/]*:\/\/|[^/:]+:(?!\d))/i;
const PS =
  '-alnqs -f= --all --quiet --no-trunc --format= --filter= --last= --size --latest --services --status= --digests --tree';
const LOGS = '-ft -n= --tail= --follow --since= --until= --timestamps --details --no-color --no-log-prefix';
const SHOWS = '-s -f= --format= --size --type= --verbose';
const CONTAINERS: KnownProgram = {
  options: '--version --help',
  verbs: {
    ...verbs('ps images', { options: PS }),
    logs: { options: LOGS },
    inspect: { options: SHOWS },
    ...verbs('version info port diff history search', { options: '-f= --format= --no-trunc --quiet -q --human' }),
    top: {},
    stats: { options: '-a --all --no-stream --no-trunc --format=' },
    image: { verbs: { ...verbs('ls list', { options: PS }), ...verbs('inspect history', { options: SHOWS }) } },
    container: {
      verbs: {
        ...verbs('ls list ps', { options: PS }),
        logs: { options: LOGS },
        inspect: { options: SHOWS },
        ...verbs('top port', {}),
        stats: { options: '-a --all --no-stream --format=' },
      },
    },
    ...verbs('volume network', { verbs: { ...verbs('ls list', { options: PS }), inspect: { options: SHOWS } } }),
    context: { verbs: verbs('ls list show inspect', { options: '-q -f= --format= --quiet' }) },
    system: { verbs: verbs('df info', { options: '-v -f= --verbose --format=' }) },
    compose: {
      verbs: {
        ...verbs('ps ls images', { options: PS }),
        logs: { options: LOGS },
        ...verbs('top version', {}),
        config: { options: '-q --quiet --services --images --volumes --profiles --format=' },
      },
    },
  },
};

const SELECTS =
  '-A -nlLo= --all-namespaces --namespace= --selector= --output= --show-labels --sort-by= --field-selector= --no-headers ' +
  '--ignore-not-found --show-kind --label-columns= --output-watch-events --chunk-size= --watch -w --watch-only';
const SECRETS = /(?:^|,)secrets?(?:[./,]|$)/i;
const KUBECTL: KnownProgram = {
  // A template in a file is shown where it is none.
  never: /template-?file|(?:jsonpath|columns)-file/,
  options: '-n= --namespace= --request-timeout= --help',
  verbs: {
    get: { options: SELECTS, words: SECRETS },
    describe: { options: '-A -l= --all-namespaces --selector= --show-events=?', words: SECRETS },
    logs: {
      options:
        '-fp -cl= --follow --previous --tail= --since= --since-time= --container= --all-containers --timestamps --selector= --prefix ' +
        '--limit-bytes= --max-log-requests= --ignore-errors',
    },
    top: {
      options: '-A -l= --all-namespaces --selector= --containers --no-headers --sort-by= --sum',
      verbs: verbs('pod pods po node nodes no', {}),
    },
    events: { options: '-A -o= --all-namespaces --for= --types= --watch -w' },
    explain: { options: '--recursive --api-version=' },
    version: { options: '-o= --client --output=' },
    ...verbs('api-resources api-versions', { options: '-o= --namespaced=? --api-group= --verbs= --output= --no-headers' }),
    config: { verbs: verbs('current-context get-contexts get-clusters', { options: '-o= --output= --no-headers' }) },
    auth: { verbs: verbs('can-i whoami', { options: '-A --list --all-namespaces --quiet -q' }) },
    rollout: { verbs: verbs('status history', { options: '-w --watch=? --timeout= --revision=' }) },
  },
};

const GH_LISTS =
  '-c -AaBHLlqRsSt= --json= --jq= --template= --limit= --state= --author= --assignee= --label= --repo= --search= --base= --head= ' +
  '--comments --draft --order= --sort= --branch= -b= --workflow= --user= -u= --event= -e= --status= --commit= --exclude-drafts';
const GH_VIEWS =
  '-cv -qRtj= --json= --jq= --template= --repo= --comments --log --log-failed --job= --exit-status --attempt= --verbose --patch --name-only --color=';
const GH_READS: KnownProgram = {
  verbs: { ...verbs('list ls', { options: GH_LISTS }), ...verbs('view status diff checks', { options: GH_VIEWS }) },
};
const GH: KnownProgram = {
  options: '--version --help',
  verbs: {
    ...verbs('pr issue run repo release workflow label gist cache', GH_READS),
    search: { verbs: verbs('code commits issues prs repos', { options: GH_LISTS }) },
    status: {},
  },
};

const SHOWN_BY_OPENSSL =
  '-noout -text -in= -subject -issuer -dates -startdate -enddate -fingerprint -serial -sha1 -sha256 -inform= -modulus -purpose -ext=';

export const SERVICES: readonly (readonly [string, KnownProgram])[] = [
  ...programs('docker podman nerdctl', CONTAINERS),
  ['docker-compose', CONTAINERS.verbs?.['compose'] ?? {}],
  ['kubectl', KUBECTL],
  ['gh', GH],
  [
    'brew',
    {
      options: '--version --help',
      // A path is a file that is loaded.
      words: /\/|\.rb$/,
      verbs: verbs('list ls info search outdated deps uses leaves config desc', {
        options: '-1v --versions --formula --cask --json=? --tree --installed --verbose',
      }),
    },
  ],
  [
    'curl',
    plain(
      '-46fgGiILsSv -m= --silent --show-error --fail --location --head --include --max-time= --connect-timeout= --retry= --retry-delay= ' +
        '--compressed --verbose --http1.1 --http2 --globoff --max-redirs= --fail-with-body --no-progress-meter --version --help',
      { words: NO_PAGE },
    ),
  ],
  [
    'wget',
    plain('-46qSv --quiet --spider --no-verbose --timeout= --tries= --server-response --version --help', { words: NO_PAGE }),
  ],
  // Where it goes, and what it runs there.
  ['ssh', plain('-46CnqTv -pl= --help', { code: 2 })],
  ['scp', plain('-346Cpqrv -P=')],
  ['sftp', plain('-46Cpqrv -P=')],
  [
    'rsync',
    plain(
      '-abcDgHhilnopPqrRStuvWxzAX --archive --verbose --compress --recursive --dry-run --human-readable --progress --stats --exclude= ' +
        '--include= --exclude-from= --checksum --update --size-only --times --links --perms --partial --itemize-changes --info= --max-size= ' +
        '--min-size= --ignore-existing --existing --relative --quiet --list-only --bwlimit= --omit-dir-times --no-perms --no-owner --no-group',
    ),
  ],
  // Without `-l` it makes a key.
  ['ssh-keygen', plain('-lv -Ef=', { onlyShows: /(?:^| )-l(?: |$)/ })],
  [
    'openssl',
    {
      oneDash: true,
      options: '-help',
      verbs: {
        ...verbs('dgst sha1 sha256 sha512 md5', { options: '-sha1 -sha256 -sha384 -sha512 -md5 -hex -r -c -binary' }),
        ...verbs('x509 req', { options: SHOWN_BY_OPENSSL }),
        version: { options: '-a -v -d' },
        ciphers: { options: '-v -V -s' },
      },
    },
  ],
  ...programs('apt apt-cache', {
    options: '-aq --installed --upgradable --all-versions --names-only',
    verbs: verbs('list show search policy depends rdepends', {}),
  }),
  [
    'dpkg',
    { options: '-lLsSp --list --listfiles --status --search --print-avail --version --help', onlyShows: /^(?:-[lLsSp]|--)/ },
  ],
  // `-i` shows behind `-q`, and installs without.
  [
    'rpm',
    {
      options:
        '-acdfilpqRv --all --list --info --file --requires --provides --changelog --last --queryformat= --qf= --whatrequires=',
      onlyShows: /^-[acdfilpRv]*q/,
    },
  ],
  ['dmesg', plain('-dekLrtTuwx -fl= --ctime --follow --level= --facility= --since= --until= --kernel --decode --nopager')],
  [
    'ip',
    {
      oneDash: true,
      options: '-4 -6 -br -brief -c -color=? -d -details -h -j -json -o -oneline -p -pretty -s -stats -t -V',
      verbs: verbs('address addr a link l route r rule neighbour neighbor neigh n', { verbs: verbs('show list ls get', {}) }),
    },
  ],
  ['ss', plain('-046abeEhHilmnoOprsStTuwx -fA= --all --listening --numeric --processes --tcp --udp --summary')],
  ['sysctl', plain('-abenNqr --all --values --names --ignore', { words: /=/ })],
  ['dig', plain('-46 -tpxq= --help')],
  ...programs('host nslookup', plain('-a -tv=')),
  ['ping', plain('-46nqv -ciWwst=')],
];
