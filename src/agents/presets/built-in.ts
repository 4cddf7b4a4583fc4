/**
 * Groups that come with Troupe. They name no models, so they run with whatever the project uses; give the workers different
 * ones to have them see differently. Reviewers cannot write: what they find is for somebody else to change.
 */

import { codingPresets } from './coding-presets.ts';
import type { GroupPreset, PresetContent } from './preset.ts';
import { thinkingPresets } from './thinking-presets.ts';

export function builtInPresets(): readonly GroupPreset[] {
  const all: readonly PresetContent[] = [...codingPresets, ...thinkingPresets];
  return all.map((preset) => ({ ...preset, source: { tier: 'built-in' } }));
}
