import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import type { ViewProps } from './places.ts';

export type LazyView = LazyExoticComponent<ComponentType<ViewProps>>;

/** A view whose file is loaded when somebody goes there. */
export const view = (load: () => Promise<{ readonly View: ComponentType<ViewProps> }>): LazyView =>
  lazy(async () => ({ default: (await load()).View }));
