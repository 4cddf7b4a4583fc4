/**
 * A task as others read it: the JSON of `TaskContext`. The schemas are the source of the types. It is read as .NET reads it
 * there: names of properties in any case, numbers also from strings, null where something is left out, what is unknown passed
 * over; and written so that nulls are not, always in the same order.
 */
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { readAgentChoice, readDispatchedAnswer } from './agent-json.ts';
import { anyCase, fromString } from './any-case.ts';
import { readTaskState, type TaskState } from './task-states.ts';

/** Free keys keep their names and their nulls. */
const free = z.custom<JsonObject>(isJsonObject);

const taskState = z.union([z.string(), z.number().int()]).transform(readTaskState);

const taskMessage = anyCase({ role: z.string().min(1), content: z.string(), timestamp: z.string().optional() });

const taskStatus = anyCase({ state: taskState, message: taskMessage.optional(), timestamp: z.string().optional() });

const taskArtifact = anyCase({
  artifactId: z.string().optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  parts: z.array(free).optional(),
  metadata: free.optional(),
});

const taskContext = anyCase({
  id: z.string().min(1),
  sessionId: z.string().min(1),
  status: taskStatus,
  history: z.array(taskMessage).optional(),
  artifacts: z.array(taskArtifact).optional(),
  metadata: free.optional(),
});

/** What was said: by the `user`, or by the `assistant`, which is the agent. */
export interface TaskMessage {
  readonly role: string;
  readonly content: string;
  readonly timestamp?: string | undefined;
}

export interface TaskStatus {
  readonly state: TaskState;
  readonly message?: TaskMessage | undefined;
  /** ISO 8601. */
  readonly timestamp?: string | undefined;
}

/** Something that came of the task: its result, or a file. */
export interface TaskArtifact {
  readonly artifactId?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly parts?: readonly JsonObject[] | undefined;
  readonly metadata?: JsonObject | undefined;
}

export interface TaskContext {
  readonly id: string;
  readonly sessionId: string;
  readonly status: TaskStatus;
  readonly history?: readonly TaskMessage[] | undefined;
  readonly artifacts?: readonly TaskArtifact[] | undefined;
  readonly metadata?: JsonObject | undefined;
}

/** What somebody else may have written: never throws, and says what is wrong. */
export function readTask(text: string): Result<TaskContext, string> {
  if (text.length > limits.taskCharacters)
    return fail(`A task of ${text.length} characters is more than the ${limits.taskCharacters} that are read (taskCharacters)`);
  const parsed = parseJson(text);
  if (!parsed.ok) return fail(`This is not JSON: ${parsed.error}`);
  const plain = plainJson(parsed.value, 0);
  if (plain === undefined) return fail(`It is nested deeper than ${limits.taskDepth} levels (taskDepth)`);
  const read = taskContext.safeParse(plain);
  if (!read.success) return fail(z.prettifyError(read.error));
  const { metadata } = read.data;
  return ok(metadata === undefined ? read.data : { ...read.data, metadata: withKnownKeys(metadata) });
}

/** What we know among the free keys is read by its own schema, in its place; what does not fit stays as it is. */
function withKnownKeys(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, knownValue(name, value)]));
}

function knownValue(name: string, value: Json | undefined): Json | undefined {
  switch (name) {
    case 'routingConfidence': {
      const confidence = fromString(value);
      return typeof confidence === 'number' ? confidence : value;
    }
    case 'routing':
      return readAgentChoice(value) ?? value;
    case 'agentResponses':
      return Array.isArray(value) ? value.map((item: Json) => readDispatchedAnswer(item) ?? item) : value;
    default:
      return value;
  }
}

/** Without what could pass for an object's prototype; `undefined` when it is too deep. */
function plainJson(value: Json, depth: number): Json | undefined {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= limits.taskDepth) return undefined;
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => plainJson(item, depth + 1));
    return items.every((item) => item !== undefined) ? items : undefined;
  }
  const entries = Object.entries(value)
    .filter(([name]) => name !== '__proto__')
    .map(([name, item = null]) => [name, plainJson(item, depth + 1)] as const);
  return entries.every(([, item]) => item !== undefined) ? Object.fromEntries(entries) : undefined;
}

/** One line of JSON: the properties in the order of the schema, then what else was there; no nulls but those of free keys. */
export function writeTask({ id, sessionId, status, history, artifacts, metadata }: TaskContext): string {
  const { state, message, timestamp } = status;
  return JSON.stringify({
    ...{ id, sessionId, status: { state, message: message && ordered(message), timestamp } },
    ...{ history: history?.map(ordered), artifacts, metadata },
  });
}

const ordered = ({ role, content, timestamp, ...more }: TaskMessage): TaskMessage => ({ role, content, timestamp, ...more });
