/**
 * Which of the files that an executor names may be stored: those that its agent may read. A manifest is no way around what is
 * closed; and at the end of a run nobody is asked.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { DeclaredArtifact } from '../../artifacts/port.ts';
import type { FlaggedArtifact } from '../../events/evidence.ts';
import { resolveAnywhere } from '../../tools/files/workspace.ts';
import { type ProtectedKind, protectedName } from '../../tools/protected-names.ts';
import type { HearsOutside } from '../hearing/hears.ts';
import type { ToolAccess } from '../options.ts';

export type JudgesDeclared = Pick<ToolAccess, 'tools' | 'permission'> & HearsOutside;

/** Nobody makes these: what lies there is ours, or the repository's own. */
const CLOSED: ReadonlySet<ProtectedKind | undefined> = new Set<ProtectedKind | undefined>(['state', 'git']);
const READ = { name: 'read', replay: 'safe', readOnly: true } as const;

export async function declaredFiles(
  tree: JudgesDeclared,
  agent: AgentDefinition,
  workspace: string,
  files: readonly DeclaredArtifact[],
): Promise<{ readonly files: readonly DeclaredArtifact[]; readonly flagged: readonly FlaggedArtifact[] }> {
  const { mcp: _mcp, executor: _executor, ...definition } = agent;
  const found = await tree.tools({ ...definition, tools: ['write'] });
  // It knows of places by what they are, whatever they are called.
  const write = (found.ok ? found.value : []).find((tool) => tool.name === 'write');
  const refusal = async (path: string): Promise<string | undefined> => {
    const inside = await resolveAnywhere(workspace, path);
    // Whoever opens it says what is wrong with it.
    if (!inside.ok) return undefined;
    const { relative } = inside.value;
    const known = write?.kind === undefined ? await write?.protects?.({ path }, workspace) : undefined;
    if (CLOSED.has(protectedName(relative.split('/'))) || CLOSED.has(known)) return 'it is closed to agents';
    const call = { input: { path: relative }, path: relative, remembered: tree.outside.remembered() };
    return tree.permission(agent, READ, call) === 'allow' ? undefined : 'the agent may not read it (permissions)';
  };
  const [kept, flagged]: [DeclaredArtifact[], FlaggedArtifact[]] = [[], []];
  for (const file of files) {
    const why = await refusal(file.path);
    if (why === undefined) kept.push(file);
    else flagged.push({ path: file.path, why });
  }
  return { files: kept, flagged };
}
