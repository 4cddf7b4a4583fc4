import type { Scene } from '../../support/terminal/scenes.ts';

export const scene: Scene = {
  title: 'A key in .env is named with its file, and never its value; it goes to no other server than its own.',
  async play(stage) {
    stage.standsForAny('12.3 GiB free', /[\d.]+ [KMGT]iB free/g);
    stage.standsForAny('git version 2.0.0', /git version [\d.]+/g);
    stage.standsForAny('version 24.0.0', /version 24[\d.]+/g);
    await stage.project.write('.env', 'ANTHROPIC_API_KEY=sk-ant-0123456789abcdef\nDATABASE_URL=postgres://u:p@db/x\n');
    await using person = stage.calls(['doctor', '--offline'], { rows: 30 });
    await person.ends();
    stage.tells('puts the address of another server beside it');
    const beside = 'ANTHROPIC_API_KEY=sk-ant-0123456789abcdef\nANTHROPIC_BASE_URL=https://elsewhere.example/v1\n';
    await stage.project.write('.env', beside);
    await using again = stage.calls(['doctor', '--offline'], { rows: 30 });
    await again.ends();
  },
};
