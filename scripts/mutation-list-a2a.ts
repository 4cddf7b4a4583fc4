/** Mutations of how peers are spoken with: versions, ids, what is read again, and who is waited for. */
import type { Mutation } from './mutation-list.ts';

const versions = 'src/protocols/a2a-wire/versions.test.ts';
const ids = 'src/protocols/a2a/ids.test.ts';
const atOnce = 'src/protocols/a2a/at-once.test.ts';
const moved = 'test/sim/remote-moved.test.ts';
const taskOut = 'src/protocols/a2a/task-out.ts';

export const a2aMutations: readonly Mutation[] = [
  {
    invariant: 'No file that holds a secret is given to a peer',
    change: 'nobody looks into it',
    file: 'src/protocols/artifacts.ts',
    find: 'if (holdsSecret(bytes.value, redact))',
    replace: 'if (false)',
    caughtBy: {
      file: 'src/protocols/a2a/artifacts-out.test.ts',
      test: 'and that holds a key comes as the reason why it does not',
    },
  },
  {
    invariant: 'R7: what it costs is what it says',
    change: 'nobody listens',
    file: 'src/engine/peers/recorder.ts',
    find: "nanoUsd === undefined ? undefined : { nanoUsd, prices: 'peer' }",
    replace: 'undefined',
    caughtBy: { file: 'test/sim/remote-usage.test.ts', test: 'what a task cost that was done is what it says' },
  },
  {
    invariant: 'R7: tokens that nobody counted are unknown',
    change: 'they are none',
    file: 'src/projections/costs.ts',
    find: 'outputTokens === undefined ? 1 : 0',
    replace: 'outputTokens === undefined ? 0 : 0',
    caughtBy: { file: 'test/sim/remote-usage.test.ts', test: 'neither tokens nor dollars are known' },
  },
  {
    invariant: 'The trouble of a server is its own, on every binding',
    change: 'over gRPC nobody knows whose it is',
    file: 'src/protocols/a2a-wire/grpc.ts',
    find: 'end.code === status.UNKNOWN',
    replace: 'end.code === status.CANCELLED',
    caughtBy: { file: 'src/protocols/a2a-wire/error-codes.test.ts', test: 'every error has its own code, asked' },
  },
  {
    invariant: 'The card for a token is signed like the one for everybody',
    change: 'it is not',
    file: 'src/protocols/a2a/handler.ts',
    find: 'return await room.signer.card(card);',
    replace: 'return card;',
    caughtBy: { file: 'src/protocols/a2a/sign-card.test.ts', test: 'the extended card is signed' },
  },
  {
    invariant: 'The patch of a version does not count',
    change: 'it does',
    file: 'src/protocols/a2a-wire/call.ts',
    find: '?.[1] ?? said;',
    replace: '?.[9] ?? said;',
    caughtBy: { file: versions, test: 'the patch of a version does not count' },
  },
  {
    invariant: 'The patch of a version does not count by gRPC either',
    change: 'there it does',
    file: 'src/protocols/a2a-wire/grpc.ts',
    find: 'metadata.set(A2A_VERSION_HEADER, versionWord(said))',
    replace: 'metadata.set(A2A_VERSION_HEADER, said)',
    caughtBy: { file: versions, test: 'nor does it by gRPC' },
  },
  {
    invariant: 'What a peer said has the ids that it gave to it',
    change: 'only the first message has',
    file: taskOut,
    find: 'found.asked.message : (id ??',
    replace: 'found.asked.message : (undefined ??',
    caughtBy: { file: ids, test: 'what a peer said has its own ids in the history' },
  },
  {
    invariant: 'A question that stands keeps its id',
    change: 'it has another whenever something happens',
    file: taskOut,
    find: 'about.question}',
    replace: 'task.position}',
    caughtBy: { file: ids, test: 'a question that stands keeps its id' },
  },
  {
    invariant: 'P3: a messageId is one message, also where two servers hear it at once',
    change: 'who comes second does not look whether it is the same',
    file: 'src/protocols/a2a/send.ts',
    find: "outcome.kind === 'started' && outcome.before !== true",
    replace: "outcome.kind === 'started'",
    caughtBy: { file: atOnce, test: 'other words under an id that another server has just used' },
  },
  {
    invariant: 'A list has every task once, page by page',
    change: 'those of the same millisecond are one',
    file: 'src/protocols/a2a/list.ts',
    find: 'left.found.id < right.found.id ? 1 : -1',
    replace: '0',
    caughtBy: { file: atOnce, test: 'tell tasks apart that ended in the same millisecond' },
  },
  {
    invariant: 'Files of a task come while there is room for them',
    change: 'there is always room',
    file: 'src/protocols/a2a/artifacts-out.ts',
    find: 'room -= bytes;',
    replace: 'room -= 0 * bytes;',
    caughtBy: { file: 'src/protocols/a2a/artifacts-out.test.ts', test: 'the bytes of all together are bounded' },
  },
  {
    invariant: 'What was begun at an address is asked for nowhere else',
    change: 'it is asked for where the card leads by now',
    file: 'src/engine/peers/open-peer.ts',
    find: '|| begunAt === undefined ||',
    replace: "|| begunAt !== '' ||",
    caughtBy: { file: moved, test: 'nobody else is asked, and the run says so, when the task is known' },
  },
  {
    invariant: 'What is remembered was chosen by the same model',
    change: "the agent's own does not count",
    file: 'src/patterns/dispatch/route.ts',
    find: "settings.model ?? run.agent.models ?? ''",
    replace: "settings.model ?? ''",
    caughtBy: { file: 'src/patterns/dispatch/remembered.test.ts', test: 'another model of its own' },
  },
  {
    invariant: 'An agent that failed is tried again after its pause',
    change: 'at once',
    file: 'src/patterns/dispatch/work.ts',
    find: ' + settings.retryDelay;',
    replace: ';',
    caughtBy: { file: 'src/patterns/dispatch/in-time.test.ts', test: 'the pause before another attempt holds up nobody else' },
  },
  {
    invariant: 'Nobody works without being told',
    change: 'who is named works',
    file: 'src/patterns/dispatch/choice.ts',
    find: 'untold.length > 0 &&',
    replace: 'untold.length < 0 &&',
    caughtBy: {
      file: 'src/patterns/dispatch/choice.test.ts',
      test: 'one without an instruction where others have one',
    },
  },
  {
    invariant: 'Whoever was told "accepted" is heard',
    change: 'the last word from outside is taken for one that was heard',
    file: 'src/engine/hearing/from-outside.ts',
    find: '<= cursor) return;',
    replace: '<= cursor + 1) return;',
    caughtBy: { file: 'src/engine/hearing/hearing.test.ts', test: 'a cancel is heard by the life that begins' },
  },
];
