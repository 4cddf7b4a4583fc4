/** An agent that a program writes down itself: the keys of an agent file, checked in the same way. */
import type { z } from 'zod';
import { isObject, isText, isWords } from '../../base/check-given.ts';
import { TroupeError } from '../../base/errors.ts';
import { type Diagnostic, isError, quote } from '../text/diagnostics.ts';
import type { PlaceOf } from '../text/yaml-map.ts';
import { checkDefinition } from './check-definition.ts';
import { type AgentDefinition, definitionSchema } from './definition.ts';
import { diagnoseIssues } from './schema-issues.ts';
import { checkName, toDefinition } from './to-definition.ts';

/** What a program says about an agent: the keys of an agent file (docs/agents.md), its name and its prompt. */
export interface AgentDraft extends Omit<z.input<typeof definitionSchema>, 'name'> {
  readonly name: string;
  /** What stands below the frontmatter of a file. */
  readonly prompt: string;
}

/**
 * Makes an agent for the `agents` of `createTroupe`. Throws a `TroupeError` that names every problem, as `troupe check` does for
 * a file.
 */
export function defineAgent(draft: AgentDraft): AgentDefinition {
  const { prompt, ...said } = requireDraft(draft);
  const source = `program:${said.name}`;
  const placeOf: PlaceOf = () => ({ file: source, line: 1, column: 1 });
  const parsed = definitionSchema.safeParse(said, { reportInput: true });
  if (!parsed.success) throw invalid(said.name, diagnoseIssues(parsed.error.issues, placeOf));
  const definition = toDefinition(parsed.data, said.name, prompt, source);
  const problems = [...checkName(definition, placeOf), ...checkDefinition(definition, placeOf)].filter(isError);
  if (problems.length > 0) throw invalid(said.name, problems);
  return definition;
}

/** The rest is checked key by key, as a file is. */
function requireDraft(draft: AgentDraft): AgentDraft {
  const problems = [
    ...(isObject(draft) === undefined ? [] : ['what it is given must be an object']),
    ...(isText(draft?.name) === undefined ? [] : ['"name" must be text']),
    ...(isWords(draft?.prompt) === undefined ? [] : ['"prompt" must be text']),
  ];
  if (problems.length === 0) return draft;
  throw new TroupeError('invalid_agent', `defineAgent: ${problems.join(', ')}.`, {
    fix: 'Give a name and a prompt; docs/agents.md has every other key.',
  });
}

function invalid(name: string, problems: readonly Diagnostic[]): TroupeError {
  const lines = problems.map(({ message, fix }) => (fix === undefined ? message : `${message}. ${fix}`));
  return new TroupeError('invalid_agent', [`The agent ${quote(String(name))} cannot be:`, ...lines].join('\n'), {
    fix: 'Correct what is given to defineAgent; docs/agents.md has every key.',
  });
}
