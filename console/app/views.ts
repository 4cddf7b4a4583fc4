/** The file of each view, loaded when somebody goes there. */
import { type LazyView, view } from './lazy-view.ts';
import type { PlaceName } from './places.ts';
import { sessionViews } from './session-views.ts';

export const views: Readonly<Record<PlaceName, LazyView>> = {
  ...sessionViews,
  inbox: view(() => import('../views/inbox/index.tsx')),
  answer: view(() => import('../views/answer/index.tsx')),
  sessions: view(() => import('../views/sessions/index.tsx')),
  compare: view(() => import('../views/compare/index.tsx')),
  groups: view(() => import('../views/groups/index.tsx')),
  agents: view(() => import('../views/agents/index.tsx')),
  assistants: view(() => import('../views/assistants/index.tsx')),
  costs: view(() => import('../views/costs/index.tsx')),
  executors: view(() => import('../views/executors/index.tsx')),
  health: view(() => import('../views/health/index.tsx')),
};
