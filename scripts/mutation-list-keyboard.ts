/** Ways to break what stands around a person's answer, and around what was said and allowed before. */
import type { Mutation } from './mutation-list.ts';

export const keyboardMutations: readonly Mutation[] = [
  {
    invariant: 'What is typed before a question can be read answers nothing',
    change: 'attach does not wait until no more keys come',
    file: 'src/cli/attach/question.ts',
    find: '      await quiet();\n',
    replace: '',
    caughtBy: { file: 'src/cli/attach/keys.test.ts', test: 'right behind the one that opens a question are thrown away' },
  },
  {
    invariant: 'What is typed before a question can be read answers nothing',
    change: 'chat keeps it for whoever reads the keyboard next',
    file: 'src/cli/chat/typing.ts',
    find: '      queue = [];\n',
    replace: '',
    caughtBy: { file: 'src/cli/chat/typing.test.ts', test: 'what was typed before somebody else read the keyboard is dropped' },
  },
  {
    invariant: 'An approval is for what was shown',
    change: 'attach does not say what it was',
    file: 'src/cli/attach/question.ts',
    find: "where: 'terminal', ...present({ shown }) } as const",
    replace: "where: 'terminal', ...present({ shown: shown && undefined }) } as const",
    caughtBy: { file: 'test/e2e/attach.test.ts', test: 'is answered there, whole, and nothing that was typed before counts' },
  },
  {
    invariant: 'What a person makes of a call is held to the tool',
    change: 'anything is approved',
    file: 'src/engine/hearing/append-answer.ts',
    find: 'return await whyUnfit(ledger, { run, tool }, answer.input);',
    replace: 'return undefined;',
    caughtBy: {
      file: 'src/engine/calls/changed-calls.test.ts',
      test: 'is refused where what was made of it does not fit the tool',
    },
  },
  {
    invariant: 'A turn hears no more than one message may hold',
    change: 'it hears all that was said',
    file: 'src/engine/run/heard-before-turn.ts',
    find: 'bytes > limits.messageBytes || ',
    replace: '',
    caughtBy: { file: 'src/engine/local/conformance.test.ts', test: 'of much that was said at once a turn hears no more' },
  },
  {
    invariant: 'What a person changed is what is made',
    change: 'an assistant is taken up as the one that the model asked for',
    file: 'src/engine/calls/recorded-tools.ts',
    find: 'changedTo(node, step) ?? asked.input);',
    replace: 'asked.input);',
    caughtBy: { file: 'src/engine/spawning/changed-spawn.test.ts', test: 'an assistant that a person chose instead' },
  },
  {
    invariant: 'A server is allowed for the file that declares it',
    change: 'that of another tool opens that of an agent',
    file: 'src/project/servers/allowed-servers.ts',
    find: '...(kind === undefined ? [] : [kind])',
    replace: '...(kind === undefined ? [] : [])',
    caughtBy: {
      file: 'src/project/servers/declared-servers.test.ts',
      test: 'opens none of the same words in the file of an agent',
    },
  },
  {
    invariant: 'An address inside the network is told only where the settings say so, each time',
    change: 'only when it is given',
    file: 'src/protocols/a2a/push-delivery.ts',
    find: 'needs.settings.privatePush === true',
    replace: 'true',
    caughtBy: { file: 'src/protocols/a2a/push.test.ts', test: 'while the settings allowed it is not told by who does not' },
  },
  {
    invariant: 'An answer that two servers hear is given once, and neither says that something is wrong',
    change: 'the later one does',
    file: 'src/protocols/a2a/send.ts',
    find: 'if (!(await wasHeard(room, scope, found, heard))) throw error;',
    replace: 'throw error;',
    caughtBy: { file: 'src/protocols/a2a/messages.test.ts', test: 'an answer that another server hears in the same moment' },
  },
];
