import type { Scene } from '../../support/terminal/scenes.ts';

const ANSWER = `# What was found

The *three* files say **different** things, and one of them, \`settings.yaml\`, is read by nobody since the loader looks elsewhere.

1. First the loader reads [the manual](https://example.org/manual), which is long enough to be wrapped on a narrow screen.
2. Then it stops.
   - because of a missing key
   - and a wrong path

| file | lines | what it says |
|---|---:|---|
| settings.yaml | 12 | nothing that anybody reads |
| loader.ts | 340 | where settings are looked for, and in which order |

\`\`\`ts
const found = await load('settings.yaml');
\`\`\`

> A quotation from the manual.
`;

export const scene: Scene = {
  title: 'An answer in Markdown is drawn: headings, lists, tables, code and links.',
  async play(stage) {
    await stage.project.script({ text: ANSWER });
    await using person = stage.calls(['run', 'helper', 'Look.'], { rows: 50 });
    await person.ends();
  },
};
