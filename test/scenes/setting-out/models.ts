import { startModelServer } from '../../support/models/model-server.ts';
import type { Scene } from '../../support/terminal/scenes.ts';

const SETTINGS = `model: openai/house-large
prices:
  openai/house-large: { input: 3, output: 15 }
  openai/house-small: { input: 0.25, output: 2 }
`;

export const scene: Scene = {
  title: 'Models are listed with what they cost and read, and which one would be used and why.',
  async play(stage) {
    const data = ['house-large', 'house-small', 'a-model-that-nobody-has-a-price-for-2026-01-15'].map((id) => ({ id }));
    const server = await startModelServer(() => ({ text: 'Yes.' }), { lists: { '/v1/models': { data } } });
    const env = { OPENAI_API_KEY: 'sk-test-0123456789abcdef', OPENAI_BASE_URL: `${server.origin}/v1` };
    Object.assign(stage.project.env, env);
    await stage.project.write('troupe.yaml', SETTINGS);
    try {
      for (const args of [
        ['models', 'openai'],
        ['models', 'opnai'],
      ]) {
        await using person = stage.calls(args, { rows: 40 });
        await person.ends();
      }
    } finally {
      await server.close();
    }
  },
};
