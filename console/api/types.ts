/** What the API answers with: the schemas of the server, as types. Nothing of them is loaded. */
import type { z } from 'zod';
import type { artifact } from '../../src/front/shapes/artifacts.ts';
import type { comparedRuns, replayed } from '../../src/front/shapes/comparing.ts';
import type { executorList, executorProbed } from '../../src/front/shapes/executors.ts';
import type {
  agentDetail,
  agentFound,
  agentGraph,
  agentLine,
  checked,
  example,
  presetList,
} from '../../src/front/shapes/files.ts';
import type { health } from '../../src/front/shapes/health.ts';
import type { groupList, groupShown, promptGiven } from '../../src/front/shapes/keeping.ts';
import type { found, requestContext } from '../../src/front/shapes/looking.ts';
import type { assistantRow, costs, inbox, psRow, sessionRow, sessionThreads } from '../../src/front/shapes/runs.ts';

export interface Me {
  readonly name: string;
  readonly role: 'viewer' | 'operator' | 'owner' | 'caller';
  readonly version: string;
}

export type InboxItem = z.infer<typeof inbox>[number];
export type RunRow = z.infer<typeof psRow>;
export type SessionRow = z.infer<typeof sessionRow>;
export type AgentLine = z.infer<typeof agentLine>;
export type AgentFound = z.infer<typeof agentFound>;
export type AgentDetail = z.infer<typeof agentDetail>;
export type AgentGraph = z.infer<typeof agentGraph>;
export type AgentsChecked = z.infer<typeof checked>;
export type AgentFinding = AgentsChecked['diagnostics'][number];
export type ArtifactRow = z.infer<typeof artifact>;
export type AssistantRow = z.infer<typeof assistantRow>;
export type ComparedRuns = z.infer<typeof comparedRuns>;
export type ComparedSide = ComparedRuns['a'];
export type ContextReport = z.infer<typeof requestContext>;
export type CostReport = z.infer<typeof costs>;
export type ExampleRow = z.infer<typeof example>;
export type ExecutorRow = z.infer<typeof executorList>['executors'][number];
export type ExecutorProbed = z.infer<typeof executorProbed>;
export type GroupList = z.infer<typeof groupList>;
export type GroupRow = GroupList['groups'][number];
export type GroupShown = z.infer<typeof groupShown>;
export type Health = z.infer<typeof health>;
export type PresetRow = z.infer<typeof presetList>['presets'][number];
export type PromptedSession = z.infer<typeof promptGiven>;
export type Replayed = z.infer<typeof replayed>;
export type SearchFound = z.infer<typeof found>;
export type SessionThreads = z.infer<typeof sessionThreads>;

/** What starting a run answers with. */
export interface Started {
  readonly run: string;
  readonly session: string;
}
