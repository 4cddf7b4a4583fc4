/** Where a question is: in the inbox, or alone, for a phone. The name of a wait may have slashes in it. */
interface Named {
  readonly run: string;
  readonly wait: string;
}

export function addressOfWait({ run, wait }: Named, place: 'inbox' | 'answer' = 'inbox'): string {
  return `/${place}/${[run, ...wait.split('/')].map(encodeURIComponent).join('/')}`;
}
