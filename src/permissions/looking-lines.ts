/** Which command lines only look: every command in them is one that is known to, with nothing that makes it do more. */
import type { Permission } from './rule-map.ts';
import { decideLine } from './shell-rules.ts';

const list = (text: string): readonly string[] => text.split(' ');

/** Programs whose options are known, so that those that write or run something are not covered. */
const LOOKING = list(
  'ls cat head tail wc sort uniq cut tr grep egrep fgrep rg find fd fdfind tree du df stat file which pwd echo printf true false ' +
    'test diff cmp comm jq uname id whoami nproc seq basename dirname realpath readlink nl tac rev fold paste join column od ' +
    'hexdump strings md5sum sha1sum sha256sum sha512sum cksum',
);
const LOOKING_IN_GIT = list(
  'status diff log show blame grep ls-files ls-tree cat-file rev-parse rev-list merge-base describe shortlog name-rev',
);

const RULES: Readonly<Record<string, Permission>> = Object.fromEntries([
  ...LOOKING.map((program) => [`${program} *`, 'allow'] as const),
  ...LOOKING_IN_GIT.map((verb) => [`git ${verb} *`, 'allow'] as const),
  // What it runs is looked at itself.
  ['time *', 'allow'],
]);

export const onlyLooksLine = (line: string): boolean => line.trim() !== '' && decideLine(line, [RULES], {}) === 'allow';
