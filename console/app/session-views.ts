/** The views of one session: those that an exported file has too. */
import { view } from './lazy-view.ts';

export const sessionViews = {
  session: view(() => import('../views/session/index.tsx')),
  result: view(() => import('../views/result/index.tsx')),
  graph: view(() => import('../views/graph/index.tsx')),
  artifacts: view(() => import('../views/artifacts/index.tsx')),
  messages: view(() => import('../views/messages/index.tsx')),
  cost: view(() => import('../views/cost/index.tsx')),
  errors: view(() => import('../views/errors/index.tsx')),
  context: view(() => import('../views/context/index.tsx')),
} as const;
