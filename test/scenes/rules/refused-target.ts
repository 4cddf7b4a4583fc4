import type { Scene } from '../../support/terminal/scenes.ts';

const LEAD = '---\nname: lead\nhandoff: { to: fixer }\n---\nYou look.\n';
const fixer = (rule: string): string => `---\nname: fixer\ntools: [shell]\npermissions: { ${rule}: deny }\n---\nYou mend.\n`;

export const scene: Scene = {
  title:
    'An agent that hands over to a file with a misspelled rule is refused before anything is asked, and runs once that is mended.',
  async play(stage) {
    await stage.project.write('agents/lead.md', LEAD);
    await stage.project.write('agents/fixer.md', fixer('shel'));
    await stage.project.script();
    const agents = { lead: [{ text: 'Looked.' }], fixer: [{ text: 'Mended.' }] };
    await stage.project.write('replies.yaml', JSON.stringify({ agents }));
    await using refused = stage.calls(['run', 'lead', 'Go.'], { rows: 24 });
    await refused.ends();
    await using checked = stage.calls(['check'], { rows: 24 });
    await checked.ends();
    await stage.project.write('agents/fixer.md', fixer('shell'));
    stage.tells('the rule is mended');
    await using person = stage.calls(['run', 'lead', 'Go.'], { rows: 24 });
    await person.ends();
  },
};
