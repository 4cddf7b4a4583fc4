/** Lines of a shell as the pages show them: which of them are commands of Troupe, and their words. */

/** The commands of Troupe in a block: without prompt, comment, what feeds them and what they feed. */
export function commandsIn(text: string): readonly string[] {
  return (
    text
      .split('\n')
      .flatMap((line) => line.replace(/^\$ /, '').split(/ (?:\|\||&&|\||<) /))
      .map((part) => /^(?:source <\()?((?:\.\/)?troupe(?: .*)?)$/.exec(part.trim())?.[1]?.replace(/\)$/, ''))
      .filter((command) => command !== undefined)
      // `./troupe …` stands for any command.
      .filter((command) => !/^\S+ +…/.test(command))
  );
}

/** What a shell makes of the line: without the name of the command, comments and redirections. */
export function wordsOf(line: string): string[] {
  const plain = line
    .replace(/\s+#( |$).*$/, '')
    .replaceAll(/<([^>]*)>/g, (_all, name: string) => name.replaceAll(' ', '-'))
    .replace(/ >.*$/, '');
  const words = [...plain.matchAll(/((?:[^\s"']|"[^"]*"|'[^']*')+)/g)].map((match) => (match[1] ?? '').replaceAll(/["']/g, ''));
  if (words[0] !== 'troupe' && words[0] !== './troupe') throw new Error(`not a command of Troupe: ${line}`);
  return words.slice(1);
}
