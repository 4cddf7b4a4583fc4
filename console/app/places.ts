/**
 * Every view, as data: where it is and what it is called. The rail, the palette, the tabs of a session and the title of the page
 * are made from this table; `views.ts` has the file of each.
 */

/** What stands in the place of `:name` in a path; of what `*` stands for under that name. */
export interface ViewProps {
  readonly params: Readonly<Record<string, string | undefined>>;
}

export interface Place {
  readonly name: string;
  readonly title: string;
  /** The first is where links lead. */
  readonly paths: readonly string[];
  /** The sign beside its name in the rail; without one it is not there. */
  readonly rail?: string;
  /** A tab of a session. */
  readonly ofSession?: boolean;
  /** Has the whole window, without the frame: for phones. */
  readonly alone?: boolean;
}

const ofSession = { ofSession: true } as const;

export const places = [
  { name: 'inbox', title: 'Inbox', rail: '◐', paths: ['/', '/inbox', '/inbox/:run/*'] },
  { name: 'answer', title: 'Answer', alone: true, paths: ['/answer/:run/*'] },
  { name: 'sessions', title: 'Sessions', rail: '≡', paths: ['/sessions'] },
  { name: 'session', title: 'Timeline', ...ofSession, paths: ['/sessions/:session'] },
  { name: 'result', title: 'Result', ...ofSession, paths: ['/sessions/:session/result'] },
  { name: 'graph', title: 'Graph', ...ofSession, paths: ['/sessions/:session/graph'] },
  { name: 'artifacts', title: 'Files', ...ofSession, paths: ['/sessions/:session/files'] },
  { name: 'messages', title: 'Messages', ...ofSession, paths: ['/sessions/:session/messages'] },
  { name: 'cost', title: 'Costs', ...ofSession, paths: ['/sessions/:session/costs'] },
  { name: 'errors', title: 'Errors', ...ofSession, paths: ['/sessions/:session/errors'] },
  { name: 'context', title: 'Context', ...ofSession, paths: ['/sessions/:session/context'] },
  { name: 'compare', title: 'Compare', paths: ['/compare/:one/:other'] },
  { name: 'groups', title: 'Groups', rail: '⁂', paths: ['/groups', '/groups/:group'] },
  { name: 'agents', title: 'Agents', rail: '✦', paths: ['/agents', '/agents/:agent'] },
  { name: 'assistants', title: 'Assistants', rail: '⇄', paths: ['/assistants'] },
  { name: 'costs', title: 'Costs', rail: '$', paths: ['/costs'] },
  { name: 'executors', title: 'Executors', rail: '⚙', paths: ['/executors'] },
  { name: 'health', title: 'Health', rail: '♥', paths: ['/health'] },
] as const satisfies readonly Place[];

export type PlaceName = (typeof places)[number]['name'];

const all: readonly Place[] = places;
export const railPlaces = all.filter(({ rail }) => rail !== undefined);
export const sessionPlaces = all.filter((one) => one.ofSession === true);

/** The address of a place with its names filled in. */
export function addressOf({ paths: [first = '/'] }: Place, params: Readonly<Record<string, string>> = {}): string {
  return first.replaceAll(/:(\w+)/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ''));
}
