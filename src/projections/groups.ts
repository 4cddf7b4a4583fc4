/**
 * Groups and folders as they stand, folded from the events of the session `ses_organisation`. There is no file beside it: what
 * is kept at a start follows from the events alone, so nothing is scattered, pruned or brought back, and folding twice changes
 * nothing. Events about something that is not there (any more) are without effect.
 */
import { unreachable } from '../base/errors.ts';
import type { SessionId } from '../base/ids.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { OrganisationEvent } from './organisation-lines.ts';

export const ORGANISATION = 'ses_organisation' as SessionId;
/** Where everything lies that was not put elsewhere. It cannot be deleted. */
export const DEFAULT_FOLDER = '_default';

export interface SavedGroup extends Omit<Payloads['group.created'], 'folder'> {
  readonly folder: string;
  readonly pinned: boolean;
  /** Smaller is earlier; in the order of their making unless said. */
  readonly order: number;
  readonly createdAt: string;
}

export interface Folder {
  readonly folder: string;
  readonly name: string;
}

export interface Organisation {
  readonly groups: Map<string, SavedGroup>;
  readonly folders: Map<string, Folder>;
  /** Sessions that were put into a folder. */
  readonly sessions: Map<string, string>;
  /** Groups that were deleted: they stay so, whatever comes. */
  readonly deleted: Map<string, SavedGroup>;
  /** Deleted groups that may have left something on the disk. */
  readonly uncleaned: Set<string>;
  position: number;
}

export const initialOrganisation = (): Organisation => ({
  groups: new Map(),
  folders: new Map([[DEFAULT_FOLDER, { folder: DEFAULT_FOLDER, name: 'default' }]]),
  sessions: new Map(),
  deleted: new Map(),
  uncleaned: new Set(),
  position: 0,
});

/** Updates and returns the accumulator it was given. An event that was folded already is without effect. */
export function foldOrganisation(state: Organisation, event: LedgerEvent): Organisation {
  if (event.position <= state.position) return state;
  state.position = event.position;
  if (!isOrganisation(event)) return state;
  switch (event.event_type) {
    case 'group.created':
      create(state, event.payload, event.timestamp, event.position);
      break;
    case 'group.renamed':
      change(state, event.payload.group, { name: event.payload.name });
      break;
    case 'group.moved':
      if (state.folders.has(event.payload.folder)) change(state, event.payload.group, { folder: event.payload.folder });
      break;
    case 'group.pinned':
      change(state, event.payload.group, { pinned: event.payload.pinned });
      break;
    case 'group.ordered':
      change(state, event.payload.group, { order: event.payload.order });
      break;
    case 'group.deleted':
      deleteGroup(state, event.payload.group);
      break;
    case 'group.cleaned':
      state.uncleaned.delete(event.payload.group);
      break;
    case 'folder.created':
      if (!state.folders.has(event.payload.folder)) state.folders.set(event.payload.folder, folderOf(event.payload));
      break;
    case 'folder.renamed':
      if (state.folders.has(event.payload.folder)) state.folders.set(event.payload.folder, folderOf(event.payload));
      break;
    case 'folder.deleted':
      deleteFolder(state, event.payload.folder);
      break;
    case 'session.moved':
      moveSession(state, event.payload.session, event.payload.folder);
      break;
    case 'prompt.queued':
    case 'prompt.dropped':
      break;
    default:
      unreachable(event);
  }
  return state;
}

/** Who made or renamed it is told by the event. */
const folderOf = ({ folder, name }: Folder): Folder => ({ folder, name });

/** Pinned ones first, then in their order. */
export function groupsIn(state: Organisation, folder?: string): readonly SavedGroup[] {
  return [...state.groups.values()]
    .filter((group) => folder === undefined || group.folder === folder)
    .sort((left, right) => Number(right.pinned) - Number(left.pinned) || left.order - right.order);
}

/** The group that talks in this session, also when it was deleted. */
export function groupOfSession(state: Organisation, session: string): SavedGroup | undefined {
  return [...state.groups.values(), ...state.deleted.values()].find((group) => group.session === session);
}

function create(state: Organisation, payload: Payloads['group.created'], createdAt: string, order: number): void {
  const { group } = payload;
  if (state.groups.has(group) || state.deleted.has(group)) return;
  const folder = payload.folder !== undefined && state.folders.has(payload.folder) ? payload.folder : DEFAULT_FOLDER;
  // Who made it is told by the event.
  const { by: _by, where: _where, message: _message, ...made } = payload;
  state.groups.set(group, { ...made, folder, pinned: false, order, createdAt });
}

function change(state: Organisation, id: string, changes: Partial<SavedGroup>): void {
  const group = state.groups.get(id);
  if (group !== undefined) state.groups.set(id, { ...group, ...changes });
}

function deleteGroup(state: Organisation, id: string): void {
  const group = state.groups.get(id);
  if (group === undefined) return;
  state.groups.delete(id);
  state.deleted.set(id, group);
  if (group.worktrees.length > 0) state.uncleaned.add(id);
}

/** A folder is only a place: what lies in it goes on, in the default one. */
function deleteFolder(state: Organisation, id: string): void {
  if (id === DEFAULT_FOLDER || !state.folders.delete(id)) return;
  for (const group of groupsIn(state, id)) change(state, group.group, { folder: DEFAULT_FOLDER });
  for (const [session, folder] of [...state.sessions]) if (folder === id) state.sessions.set(session, DEFAULT_FOLDER);
}

/** A group's session belongs to the group and lies where the group lies. */
function moveSession(state: Organisation, session: string, folder: string): void {
  if (state.folders.has(folder) && groupOfSession(state, session) === undefined) state.sessions.set(session, folder);
}

const KINDS = /^(group\.(created|renamed|moved|pinned|ordered|deleted|cleaned)|folder\.|session\.moved$|prompt\.)/;

function isOrganisation(event: LedgerEvent): event is OrganisationEvent {
  return KINDS.test(event.event_type);
}
