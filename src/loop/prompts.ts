/** What the runtime itself says to a model. Plain sentences; each is recorded in the request that carries it. */
import { startOf } from '../base/whole-words.ts';
import { type UserMessage, userText } from '../events/messages.ts';

export const lastTurn = (why: string, exits: readonly string[]): UserMessage => {
  const how = exits.length === 0 ? 'answer now' : `call ${exits.join(' or ')} now`;
  return userText(`${why} This is your last turn: ${how} with everything you have, and say plainly what is missing.`);
};

export const outOfTurns = 'You have used all your turns but this one.';
export const outOfContext = 'The conversation has nearly filled the context window.';
export const stuckInLoop = 'You called the same tool with the same arguments and got the same result too many times in a row.';

export const repeating = (times: number): UserMessage =>
  userText(
    `You have made the same call with the same arguments ${times} times in a row and got the same result each time. ` +
      'It will not change. Use what you have, or try something different.',
  );

/** Each time another message: they are known by identity. */
export const emptyAnswer = (): UserMessage => userText('Your answer was empty. Go on with the work, or give your answer.');

/** The answer of an agent elsewhere that is done without a word: it would do it again if it were asked for one. */
export const saidNothing = (agent: string): string => `(${agent} has done it and said nothing)`;

/** For an exit that was not taken because something came in: the next turn begins with it. */
export const newsFirst = 'Not taken yet: messages have come in for you. Take them into account, then end.';
export const newsBeforeAnswer = (): UserMessage =>
  userText('Before this counts as your answer: messages have come in for you. Take them into account, then answer again.');

export const badAnswer = (problem: string): UserMessage => userText(`${problem}\nGive the whole answer again, corrected.`);

export const tooManyCalls = (limit: number): string =>
  `Not run: at most ${limit} tool calls are allowed in one turn (maxToolCallsPerTurn). Ask again in the next turn if you still need it.`;

export const malformedArguments = (text: string): string =>
  `Not run: the arguments are not valid JSON and could not be repaired. Call the tool again with valid JSON. You sent: ${startOf(text, 300)}`;

export const unknownTool = (name: string, known: readonly string[]): string =>
  `Not run: there is no tool named ${JSON.stringify(name)}. The tools are: ${known.join(', ') || 'none'}.`;
