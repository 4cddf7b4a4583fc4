/** Ways to break the HTTP API and its streams. */
import type { Mutation } from './mutation-list.ts';

const stream = 'src/http/stream/stream.test.ts';
const door = 'src/http/api/api.test.ts';
const events = 'src/http/api/event-routes.test.ts';
const runs = 'src/http/api/run-routes.test.ts';

export const httpMutations: readonly Mutation[] = [
  {
    invariant: 'H4: whoever comes back with a cursor misses nothing and has nothing twice',
    change: 'a stream begins one event too late',
    file: 'src/http/stream/session-stream.ts',
    find: 'let position = stream.after;',
    replace: 'let position = stream.after + 1;',
    caughtBy: { file: stream, test: 'is the same for whoever comes late, early, again or with a cursor' },
  },
  {
    invariant: 'H4: a cursor of another session is refused',
    change: 'only the position is looked at',
    file: 'src/http/api/event-routes.ts',
    find: "? position : 'foreign';",
    replace: '? position : position;',
    caughtBy: { file: stream, test: 'refuses a cursor that is not of this session' },
  },
  {
    invariant: 'H5: whoever takes nothing is cut off',
    change: 'the connection is left open',
    file: 'src/http/stream/endless-response.ts',
    find: '          end();\n          cut();',
    replace: '          end();',
    caughtBy: { file: stream, test: 'cuts off whoever takes nothing' },
  },
  {
    invariant: 'A cookie alone changes nothing',
    change: 'writes need no key',
    file: 'src/http/api/door.ts',
    find: "!holder.hasKey(headers.get(KEY_HEADER) ?? '')",
    replace: 'headers.has(KEY_HEADER) && false',
    caughtBy: { file: door, test: 'takes no write from a cookie alone' },
  },
  {
    invariant: 'A page of another origin asks nothing in the name of a login',
    change: 'the origin is not compared',
    file: 'src/http/api/door.ts',
    find: "origin === undefined || URL.parse(origin)?.host === header('host')?.toLowerCase()",
    replace: 'origin === undefined || URL.parse(origin) !== null',
    caughtBy: { file: door, test: 'takes no write from a cookie alone' },
  },
  {
    invariant: 'A code logs in once',
    change: 'it can be used again',
    file: 'src/http/logins.ts',
    find: '      codes.delete(hash);\n',
    replace: '',
    caughtBy: { file: 'src/http/logins.test.ts', test: 'swap a code once, in time, and no other' },
  },
  {
    invariant: 'H3: a hash alone opens no payload',
    change: 'the event is not asked whether it names it',
    file: 'src/http/api/event-routes.ts',
    find: "return attachment_ref === ref ? 'attachment' : undefined;",
    replace: "return attachment_ref === ref ? 'attachment' : 'attachment';",
    caughtBy: { file: events, test: 'name payloads that are fetched by their hashes' },
  },
  {
    invariant: 'H3: what somebody may not see is not there',
    change: 'every session is everybody’s',
    file: 'src/front/sight.ts',
    find: 'for (const root of roots) if (!(await isOwn(ledger, root, seer))) return undefined;',
    replace: '',
    caughtBy: { file: events, test: 'are for whoever spawned the session' },
  },
  {
    invariant: 'An approval over the API is for what was seen',
    change: 'nobody has to say what they saw',
    file: 'src/front/acts.ts',
    find: "answer.kind === 'approved' && shown === undefined",
    replace: "answer.kind === 'approved' && shown === ''",
    caughtBy: { file: runs, test: 'wait until somebody approves what they saw' },
  },
  {
    invariant: 'What is asked for twice with one key is done once',
    change: 'the key of a start is not looked at',
    file: 'src/front/acts.ts',
    find: "runIdFrom(JSON.stringify(['api', client.name, key]))",
    replace: 'undefined',
    caughtBy: { file: runs, test: 'are started with the name of who did' },
  },
  {
    invariant: 'What is asked for twice with one key is done once',
    change: 'a message is said again',
    file: 'src/engine/hearing/append-message.ts',
    find: 'const message = given ?? ids.nonce();',
    replace: 'const message = ids.nonce();',
    caughtBy: { file: runs, test: 'are paused, told, resumed, cancelled and done again' },
  },
  {
    invariant: 'What somebody may not do is refused',
    change: 'roles are not looked at',
    file: 'src/http/api/api.ts',
    find: "deed !== 'anybody' && !mayDo(roleOfCaller(caller.value), deed)",
    replace: "deed !== 'anybody' && !mayDo('owner', deed)",
    caughtBy: { file: runs, test: 'are seen and steered by whoever may' },
  },
  {
    invariant: 'Words that are streamed have no secrets in them',
    change: 'a word is told before it is whole',
    file: 'src/live/whole-words.ts',
    find: "Math.max(text.lastIndexOf(' '), text.lastIndexOf('\\n')) + 1",
    replace: 'text.length',
    caughtBy: { file: 'src/live/live.test.ts', test: 'reach whoever watches in another process' },
  },
  {
    invariant: 'Words are believed of nobody who does not know the word',
    change: 'anybody may speak',
    file: 'src/live/listen.ts',
    find: '!known && line !== word',
    replace: '!known && line === undefined',
    caughtBy: { file: 'src/live/live.test.ts', test: 'are believed of nobody who does not know the word' },
  },
];
