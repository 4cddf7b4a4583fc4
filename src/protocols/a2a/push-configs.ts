/**
 * Whom a task's peer wants to be told: addresses that are recorded with the task, so that every server of the project knows them.
 * Their secrets are redacted in the ledger and sealed beside it; an address inside the network is refused unless the settings say
 * otherwise.
 */
import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { EventId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { KEPT_SECRET } from '../../base/secrets/shapes.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { EventOf } from '../../events/envelope.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { NewEvent } from '../../ledger/port.ts';
import { reachableAddresses } from '../../network/addresses.ts';
import { tooMany, tooMuch } from './errors.ts';
import type { FoundTask } from './found-tasks.ts';
import type { A2aNeeds } from './needs.ts';
import { checkPush } from './params-in.ts';

/** An address that is told, and how far it was. */
export interface PushTarget {
  /** The event that made it. A config that is replaced, or made again, is another target. */
  readonly made: EventId;
  readonly config: TaskPushNotificationConfig;
  readonly version: string;
  /** It was told everything up to here; nothing yet without it. */
  readonly told?: number | undefined;
  readonly failed?: string | undefined;
}

type Pushing = Pick<A2aNeeds, 'ledger' | 'clock' | 'ids' | 'settings'>;

const TYPES = ['push.configured', 'push.removed', 'push.told'] as const;

/** Those of a task, by name, in the order in which they came. */
export async function pushTargets(
  { ledger }: Pick<A2aNeeds, 'ledger'>,
  found: FoundTask,
): Promise<ReadonlyMap<string, PushTarget>> {
  const targets = new Map<string, PushTarget>();
  for await (const event of readEvents(ledger, { session: found.session, run: found.run, types: TYPES, exact: true })) {
    if (event.event_type === 'push.configured' && isOf(found, event.payload))
      targets.set(event.payload.config, targetOf(found, event));
    if (event.event_type === 'push.removed' && isOf(found, event.payload)) targets.delete(event.payload.config);
    if (event.event_type !== 'push.told') continue;
    const { config, position, failed, target: made } = event.payload;
    const target = targets.get(config);
    if (target !== undefined && (made === undefined || made === target.made))
      targets.set(config, { ...target, told: position, ...present({ failed }) });
  }
  return targets;
}

/** The tasks of a run of which somebody wants to be told: the run itself, and what it was after an end. */
export async function tasksToTell({ ledger }: Pick<A2aNeeds, 'ledger'>, found: FoundTask): Promise<readonly FoundTask[]> {
  const ids = new Set<string>();
  const query = { session: found.session, run: found.run, types: ['push.configured'], exact: true } as const;
  for await (const event of readEvents(ledger, query))
    if (event.event_type === 'push.configured') ids.add(event.payload.task ?? found.run);
  return [...ids].map((id) => ({ ...found, id }));
}

/** What is said of the first task of a run names none. */
const isOf = ({ id, run }: FoundTask, { task = run }: { readonly task?: string | undefined }): boolean => task === id;
const ofTask = ({ id, run }: FoundTask): { readonly task?: string } => (id === run ? {} : { task: id });

function targetOf({ id: taskId, asked }: FoundTask, { event_id: made, payload }: EventOf<'push.configured'>): PushTarget {
  const { config: id, url, token, scheme, credentials, version } = payload;
  const authentication = scheme === undefined ? undefined : { scheme, credentials: revealed(credentials) };
  return { made, version, config: { tenant: asked.tenant ?? '', id, taskId, url, token: revealed(token), authentication } };
}

const kept = (secret: string): string | undefined =>
  secret === '' ? undefined : `${KEPT_SECRET}${Buffer.from(secret).toString('base64url')}`;
const revealed = (text: string | undefined): string =>
  text?.startsWith(KEPT_SECRET) === true ? Buffer.from(text.slice(KEPT_SECRET.length), 'base64url').toString('utf8') : '';

interface CheckedPush {
  readonly url: string;
  readonly token: string;
  readonly scheme: string;
  readonly credentials: string;
}

/** What no header can carry. */
const NO_HEADER = /[^\t\u0020-\u007e\u0080-\u00ff]/;

/** Refused before anything begins for whoever wants to be told. */
export async function checkedPush(needs: Pick<A2aNeeds, 'settings'>, given: TaskPushNotificationConfig): Promise<CheckedPush> {
  checkPush(given);
  const { url, authentication } = given;
  // The older version may leave out what the types promise.
  if ((given.id ?? '').length > limits.a2aIdCharacters) throw tooMuch('The id of the config is too long', 'a2aIdCharacters');
  const words = {
    token: given.token ?? '',
    scheme: authentication?.scheme ?? '',
    credentials: authentication?.credentials ?? '',
  };
  if (Object.values(words).some((text) => text.length > limits.tokenCharacters || NO_HEADER.test(text)))
    throw tooMuch('Tokens and credentials fit into a header', 'tokenCharacters');
  await checkUrl(needs, url);
  return { url, ...words };
}

/** Recorded when this resolves. `again`: it came with a message, which may have been sent before, and is then the same. */
export async function addPushTarget(
  needs: Pushing,
  found: FoundTask,
  given: TaskPushNotificationConfig,
  { version, again }: { readonly version: string; readonly again: boolean },
): Promise<TaskPushNotificationConfig> {
  const { url, token, scheme, credentials } = await checkedPush(needs, given);
  const id = given.id || needs.ids.nonce();
  const known = await pushTargets(needs, found);
  const before = known.get(id);
  const words = JSON.stringify([version, url, token, scheme, credentials]);
  if (again && before !== undefined && before.failed === undefined && wordsOf(before) === words) return before.config;
  if (!known.has(id) && known.size >= limits.a2aPushConfigs)
    throw tooMany('The task has too many push configs', 'a2aPushConfigs');
  const secrets = present({ token: kept(token), scheme: scheme || undefined, credentials: kept(credentials) });
  await append(needs, found, { type: 'push.configured', payload: { config: id, url, version, ...secrets, ...ofTask(found) } });
  return { ...given, id, taskId: found.id, tenant: found.asked.tenant ?? '' };
}

const wordsOf = ({ version, config: { url, token, authentication } }: PushTarget): string =>
  JSON.stringify([version, url, token, authentication?.scheme ?? '', authentication?.credentials ?? '']);

export async function pushTarget(needs: Pushing, found: FoundTask, id: string): Promise<TaskPushNotificationConfig> {
  const target = (await pushTargets(needs, found)).get(id);
  if (target === undefined) throw new TaskNotFoundError('The task has no push config of that id.');
  return target.config;
}

export async function removePushTarget(needs: Pushing, found: FoundTask, id: string): Promise<void> {
  if (!(await pushTargets(needs, found)).has(id)) return;
  await append(needs, found, { type: 'push.removed', payload: { config: id, ...ofTask(found) } });
}

/** How far it was told, or that it is given up. */
export async function notePush(needs: Pushing, found: FoundTask, payload: Payloads['push.told']): Promise<void> {
  await append(needs, found, { type: 'push.told', payload });
}

type Noted =
  | { readonly type: 'push.configured'; readonly payload: Payloads['push.configured'] }
  | { readonly type: 'push.removed'; readonly payload: Payloads['push.removed'] }
  | { readonly type: 'push.told'; readonly payload: Payloads['push.told'] };

async function append({ ledger, clock }: Pushing, { session, run }: FoundTask, noted: Noted): Promise<void> {
  const [started] = await ledger.read({ session, run, types: ['run.started'], limit: 1 });
  const event: NewEvent = { ...noted, run, actor: 'user', cause: started?.event_id ?? null, at: clock.now() };
  await ledger.append({ session, fence: null, events: [event] });
}

/** Public, unless the settings say otherwise; without a login, which would be in every log. */
async function checkUrl({ settings }: Pick<A2aNeeds, 'settings'>, text: string): Promise<void> {
  if (text.length > limits.a2aPushUrlCharacters) throw tooMuch('The address is too long', 'a2aPushUrlCharacters');
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '')
    throw new RequestMalformedError('The address to tell must be http or https, without a login in it.');
  const reachable = await reachableAddresses(url.hostname, settings.privatePush === true);
  if (reachable.ok) return;
  // Whoever asks must not learn which names there are inside, and where they lead.
  const why = settings.privatePush === true ? 'its name leads nowhere' : 'it is not a public address, or its name leads nowhere';
  throw new RequestMalformedError(`The address cannot be told: ${why}.`);
}
