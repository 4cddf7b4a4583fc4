/**
 * Copies of tasks in Redis, each under a key of its own as the JSON of `TaskContext`, for as long as is set from the last write.
 * A copy is replaced only by a newer one: the server itself compares the positions in the ledger, so that two writers cannot lose
 * an update.
 */
import type { Clock } from '../../base/clock.ts';
import { messageOf, TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { ok, type Result } from '../../base/result.ts';
import { readTask, writeTask } from '../../projections/tasks/task-json.ts';
import type { SaveOutcome, StoredTask, TaskFilter, TaskPage, TaskStore } from '../port.ts';
import type { RedisAddress } from './address.ts';
import { createRedisConnection, type RedisClient, type RedisConnection, type RedisTrouble } from './connection.ts';

export interface RedisSettings {
  readonly address: RedisAddress;
  /** The name of a key, with `{id}` in it. */
  readonly key: string;
  readonly ttlMs: number;
}

export interface RedisTasks extends TaskStore {
  /** The same with trouble as a value, for whoever goes on without it. */
  trySave(task: StoredTask): Promise<Result<SaveOutcome, RedisTrouble>>;
  /** How new the copies are; `undefined` where there is none, or one of another writer. */
  positions(ids: readonly string[]): Promise<Result<readonly (number | undefined)[], RedisTrouble>>;
  /** Whether it answers and takes what is written. */
  probe(): Promise<Result<void, RedisTrouble>>;
  retryInMs(): number;
  /** How often it was connected to. After another time it may have lost what it held. */
  connections(): number;
  close(): void;
}

/**
 * What we write ends with its position, so a look at the end is enough; what somebody else has written is read whole. With -1 it
 * was saved, otherwise what is there is as new as that.
 */
const SAVE = `
local held = tonumber(string.match(redis.call('GETRANGE', KEYS[1], -64, -1), '"ledgerPosition":(%d+)}}$'))
if not held and redis.call('STRLEN', KEYS[1]) > 0 then
  local ok, task = pcall(cjson.decode, redis.call('GET', KEYS[1]))
  if ok and type(task) == 'table' and type(task.metadata) == 'table' then held = tonumber(task.metadata.ledgerPosition) end
end
if held and held >= tonumber(ARGV[2]) then return held end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return -1
`;
const TAIL = /"ledgerPosition":(\d+)\}\}$/;
const TAIL_CHARACTERS = 64;
const PROBE_MS = 1_000;

export function createRedisTasks({ address, key, ttlMs }: RedisSettings, clock: Clock): RedisTasks {
  const connection = createRedisConnection(address, clock);
  const keyOf = (id: string): string => key.replaceAll('{id}', () => id);
  const save = (id: string, text: string, position: number, ms: number) =>
    connection.use(async (client): Promise<SaveOutcome> => {
      const held = Number(await client.eval(SAVE, { keys: [keyOf(id)], arguments: [text, `${position}`, `${ms}`] }));
      return held < 0 ? { kind: 'saved' } : { kind: 'newer', position: held };
    });
  const trySave: RedisTasks['trySave'] = ({ task, position }) => save(task.id, writeTask(task), position, ttlMs);
  return {
    trySave,
    save: async (task) => orThrow(await trySave(task)),
    load: async (id) => orThrow(await connection.use((client) => readCopy(client, keyOf(id)))),
    async list(filter) {
      const { copies, isCut } = await scanned(connection, key);
      return { ...pageOf(copies, filter), ...(isCut ? { cutBy: 'redisScanKeys' } : {}) };
    },
    positions: (ids) =>
      connection.use(async (client) => {
        const ends = await Promise.all(ids.map((id) => textAt(client, keyOf(id), -TAIL_CHARACTERS, -1)));
        return ends.map((end) => {
          const position = TAIL.exec(end)?.[1];
          return position === undefined ? undefined : Number(position);
        });
      }),
    probe: async () => {
      const saved = await save('troupe-doctor', '{}', 1, PROBE_MS);
      return saved.ok ? ok(undefined) : saved;
    },
    retryInMs: connection.retryInMs,
    connections: connection.made,
    close: connection.close,
  };
}

function orThrow<Value>(outcome: Result<Value, RedisTrouble>): Value {
  if (outcome.ok) return outcome.value;
  throw new TroupeError('io', outcome.error.message, {
    fix: 'The ledger has every task: troupe tasks list. See troupe doctor.',
  });
}

/** What somebody else keeps under such a name, a list for one, is no text. */
async function textAt(client: RedisClient, name: string, from: number, to: number): Promise<string> {
  try {
    return (await client.getRange(name, from, to)) ?? '';
  } catch (error) {
    if (messageOf(error).startsWith('WRONGTYPE')) return '';
    throw error;
  }
}

/** No more is fetched than can be read. What is no task is none. */
async function readCopy(client: RedisClient, name: string): Promise<StoredTask | undefined> {
  const task = readTask(await textAt(client, name, 0, limits.taskCharacters));
  if (!task.ok) return undefined;
  const position = task.value.metadata?.['ledgerPosition'];
  return { task: task.value, position: typeof position === 'number' ? position : 0 };
}

interface Scanned {
  readonly copies: readonly StoredTask[];
  /** Redis holds more keys of such a name than are looked at. */
  readonly isCut: boolean;
}

/** Names in one exchange, then copies in one for each page: a long list takes no longer at a time than a short one. */
async function scanned(connection: RedisConnection, key: string): Promise<Scanned> {
  const names = orThrow(await connection.use((client) => namesIn(client, key)));
  const looked = names.slice(0, limits.redisScanKeys);
  const copies: StoredTask[] = [];
  for (let from = 0; from < looked.length; from += limits.redisReadsAtOnce) {
    const page = looked.slice(from, from + limits.redisReadsAtOnce);
    const read = orThrow(await connection.use((client) => Promise.all(page.map((name) => readCopy(client, name)))));
    copies.push(...read.filter((copy) => copy !== undefined));
  }
  return { copies, isCut: names.length > looked.length };
}

async function namesIn(client: RedisClient, key: string): Promise<readonly string[]> {
  const names = new Set<string>();
  // The literal parts of the name are no patterns.
  const MATCH = key.replaceAll(/[\\*?[\]]/g, '\\$&').replaceAll('{id}', '*');
  for await (const found of client.scanIterator({ MATCH, COUNT: limits.redisScanCount })) {
    for (const name of found) names.add(name);
    if (names.size > limits.redisScanKeys) break;
  }
  return [...names];
}

function pageOf(copies: readonly StoredTask[], { state, session, limit, after }: TaskFilter): TaskPage {
  const asked = copies
    .filter(({ task }) => (state ?? task.status.state) === task.status.state && (session ?? task.sessionId) === task.sessionId)
    .toSorted((left, right) => (left.task.id < right.task.id ? 1 : -1));
  const rest = after === undefined ? asked : asked.filter(({ task }) => task.id < after);
  const tasks = rest.slice(0, limit);
  return rest.length > limit ? { tasks, next: tasks.at(-1)?.task.id } : { tasks };
}
