/**
 * Server-sent events from a response that is read as it comes. The browser's own EventSource hides comments, which tell where the
 * session ends, and why a stream was refused.
 */
export interface Frame {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

export interface FrameReader {
  /** Takes the next piece of text, wherever it was cut. */
  push(text: string): void;
}

export function createFrameReader(onFrame: (frame: Frame) => void, onComment: (text: string) => void): FrameReader {
  let rest = '';
  let event = '';
  let id: string | undefined;
  let data: string[] = [];
  const take = (line: string): void => {
    if (line === '') {
      if (data.length > 0) onFrame({ event: event === '' ? 'message' : event, id, data: data.join('\n') });
      event = '';
      id = undefined;
      data = [];
      return;
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === '') onComment(value);
    else if (name === 'event') event = value;
    else if (name === 'id') id = value;
    else if (name === 'data') data.push(value);
  };
  return {
    push(text) {
      rest += text;
      let from = 0;
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', from)) {
        take(rest[end - 1] === '\r' ? rest.slice(from, end - 1) : rest.slice(from, end));
        from = end + 1;
      }
      rest = rest.slice(from);
    },
  };
}
