/** As much of Express as the sample server uses: its types are no dependency of ours. */
declare module 'express' {
  import type { Server } from 'node:http';

  interface Application {
    use(path: string, handler: unknown): void;
    listen(port: number, host: string, ready: () => void): Server;
  }
  function express(): Application;
  export = express;
}
