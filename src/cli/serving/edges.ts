/** The doors of `troupe serve` for chat programs and other front-ends: closed unless the settings or an option open them. */
import type { Clock } from '../../base/clock.ts';
import { answerPath } from '../../front/links.ts';
import type { ServedEdges } from '../../http/app.ts';
import type { MountedEdge } from '../../http/edges.ts';
import type { Project } from '../../project/project.ts';
import type { AgentCatalogue } from '../../protocols/mcp/needs.ts';

export interface EdgeSources {
  readonly project: Project;
  readonly agents: Pick<AgentCatalogue, 'list'>;
  readonly clock: Clock;
  readonly options: { readonly openai?: boolean | undefined; readonly agui?: boolean | undefined };
  onError(error: Error): void;
}

export interface OpenEdges extends ServedEdges {
  /** The server is reached here: links begin with it. Gives what the owner should know. */
  begin(origin: string): readonly string[];
  /** Those who follow are left, and what they followed goes on later. */
  close(): void;
}

interface Standing extends EdgeSources {
  readonly stopping: AbortSignal;
  origin(): string;
}

const DOORS = ['openai', 'agui'] as const;
type Door = (typeof DOORS)[number];

/** What the settings say of a door; an option opens it, too. */
function settingsOf({ project, options }: EdgeSources, door: Door) {
  const said = project.config.serve[door];
  if (typeof said === 'object') return said;
  return said === true || options[door] === true ? {} : undefined;
}

export async function createServedEdges(sources: EdgeSources): Promise<OpenEdges> {
  const stopping = new AbortController();
  let origin = '';
  const standing: Standing = { ...sources, stopping: stopping.signal, origin: () => origin };
  const mounted: MountedEdge[] = [];
  for (const door of DOORS) {
    const settings = settingsOf(sources, door);
    if (settings !== undefined) mounted.push(await opened(standing, door, settings));
  }
  return {
    ...{ clock: sources.clock, stopping: stopping.signal, mounted },
    begin(at) {
      origin = at;
      return linesOf(mounted, sources.project, at);
    },
    close: () => stopping.abort(),
  };
}

async function opened(sources: Standing, door: Door, settings: NonNullable<ReturnType<typeof settingsOf>>): Promise<MountedEdge> {
  const { project, agents, clock, stopping, onError } = sources;
  const { createChat } = await import('../../front/chat/needs.ts');
  const { shareWords } = await import('../../front/chat/heard-words.ts');
  const { engine, ledger, live, config, groups } = project;
  const chat = createChat({
    ...{ door, settings, engine, ledger, agents, clock, stopping, ids: groups.ids, workspace: config.workspace },
    hear: shareWords(live.hear),
    answerLink: (wait) => `${(config.serve.url ?? sources.origin()).replace(/\/$/, '')}${answerPath(wait)}`,
  });
  if (door === 'openai') {
    const { createOpenAiEdge } = await import('../../protocols/openai/endpoint.ts');
    return { at: '/v1', edge: createOpenAiEdge({ chat, onError }) };
  }
  const acting = { engine, ledger, assistants: project.assistants, workspace: config.workspace, onError };
  const { createAgUiEdge } = await import('../../protocols/agui/endpoint.ts');
  return { at: '/agui', edge: createAgUiEdge({ chat, acting, onError }) };
}

/** What the owner should know: what is open, for whom, and what it may cost. */
function linesOf(mounted: readonly MountedEdge[], { config }: Project, origin: string): readonly string[] {
  const lines: string[] = [];
  for (const { at } of mounted) {
    const door: Door = at === '/v1' ? 'openai' : 'agui';
    const said = config.serve[door];
    lines.push(door === 'openai' ? `  OpenAI:       ${origin}/v1 (base URL)` : `  AG-UI:        ${origin}/agui/agents/<name>`);
    if (typeof said !== 'object' || (said.budget === undefined && said.budgets === undefined))
      lines.push(
        `warning: what callers of ${at} may use is not bounded. Fix: serve: { ${door}: { budget: { usd: 5 } } } in troupe.yaml: a day, for each`,
      );
  }
  return lines;
}
