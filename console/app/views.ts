/** The file of each view, loaded when somebody goes there. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import type { PlaceName, ViewProps } from './places.ts';

type Loaded = { readonly View: ComponentType<ViewProps> };
type LazyView = LazyExoticComponent<ComponentType<ViewProps>>;

const view = (load: () => Promise<Loaded>): LazyView => lazy(async () => ({ default: (await load()).View }));

export const views: Readonly<Record<PlaceName, LazyView>> = {
  inbox: view(() => import('../views/inbox/index.tsx')),
  answer: view(() => import('../views/answer/index.tsx')),
  sessions: view(() => import('../views/sessions/index.tsx')),
  session: view(() => import('../views/session/index.tsx')),
  result: view(() => import('../views/result/index.tsx')),
  graph: view(() => import('../views/graph/index.tsx')),
  artifacts: view(() => import('../views/artifacts/index.tsx')),
  messages: view(() => import('../views/messages/index.tsx')),
  cost: view(() => import('../views/cost/index.tsx')),
  errors: view(() => import('../views/errors/index.tsx')),
  context: view(() => import('../views/context/index.tsx')),
  groups: view(() => import('../views/groups/index.tsx')),
  agents: view(() => import('../views/agents/index.tsx')),
  assistants: view(() => import('../views/assistants/index.tsx')),
  costs: view(() => import('../views/costs/index.tsx')),
  executors: view(() => import('../views/executors/index.tsx')),
  health: view(() => import('../views/health/index.tsx')),
};
