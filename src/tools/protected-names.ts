/**
 * Names that mean something to those who start agents or run their tools, and so are not for agents to write: whoever can write
 * them can give itself rights. They count in any spelling that some file system takes for the same name.
 */

/**
 * What a path belongs to. `state` is Troupe's own and always closed, and so is the `program` that runs, which can be read; the
 * others can be opened by a permission.
 */
export type ProtectedKind = 'state' | 'program' | 'agents' | 'settings' | 'servers' | 'git';

/** What no permission opens. */
export const isOpenedByNothing = (kind: ProtectedKind | undefined): boolean => kind === 'state' || kind === 'program';

/** Where Troupe keeps its ledger: agents cannot rewrite what happened, nor read other sessions. */
export const STATE_FOLDER = '.troupe';
/** The folder of agents at the top of a project. Elsewhere the word means other things. */
export const AGENTS_FOLDER = 'agents';
export const SETTINGS_FILE = 'troupe.yaml';

/** Folders that hold agents, of ours and of other tools, and files that say which servers are started. */
export const AGENT_FOLDERS: readonly string[] = ['.claude', '.opencode', '.squad', '.ai-team'];
export const SETTINGS_FILES: readonly string[] = [
  SETTINGS_FILE,
  'executors.yaml',
  '.mcp.json',
  'opencode.json',
  'opencode.jsonc',
];
/** Whose keys are used is for the owner to say. A folder of this name is a programming language's. */
export const KEYS_FILE = '.env';
/** In a folder that is otherwise an editor's own business. */
export const EDITOR_SERVERS = { folder: '.vscode', file: 'mcp.json' } as const;

const PROTECTED: ReadonlyMap<string, ProtectedKind> = new Map<string, ProtectedKind>([
  [STATE_FOLDER, 'state'],
  // Hooks in here run outside every permission. The second is its short name on Windows.
  ['.git', 'git'],
  ['git~1', 'git'],
  ...AGENT_FOLDERS.map((name) => [name, 'agents'] as const),
  ...[...SETTINGS_FILES, KEYS_FILE].map((name) => [name, 'settings'] as const),
]);

/**
 * The one spelling of a name: file systems ignore case, Unicode's forms, signs that do not show, or dots and spaces at the end.
 */
export function foldedName(name: string): string {
  return name
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/[. ]+$/, '');
}

/** Of the parts of a path, the first that is protected wherever it stands; what Troupe itself keeps counts before the rest. */
export function protectedName(parts: readonly string[]): ProtectedKind | undefined {
  const found = parts.map((part) => kindOf(foldedName(part))).filter((one) => one !== undefined);
  if (found.includes('state')) return 'state';
  return found[0] ?? (parts.some((part, index) => isEditorServers(part, parts[index + 1])) ? 'settings' : undefined);
}

/** `.env.local` and its like; a pattern for others to fill in holds no keys. */
const ENV_FILE = /^\.env\.(?!(?:.*\.)?(?:example|sample|template|dist)$)/;
const kindOf = (name: string): ProtectedKind | undefined => PROTECTED.get(name) ?? (ENV_FILE.test(name) ? 'settings' : undefined);

const isEditorServers = (folder: string, file = ''): boolean =>
  foldedName(folder) === EDITOR_SERVERS.folder && foldedName(file) === EDITOR_SERVERS.file;

export const plainPath = (path: string): string => path.split('/').map(foldedName).join('/');

/** In a git folder that is a place's own: where the repository that it was made from keeps its entry for the place. */
export const OWN_GIT_MARK = 'troupe-worktree';
