/** How the console is built for a session that is exported: one script and one style, for a page that loads nothing. */
import { join } from 'node:path';
import { defineConfig } from 'vite';
import { treeshake } from './tree-shaking.ts';

export default defineConfig({
  mode: 'file',
  build: {
    target: 'es2024',
    emptyOutDir: true,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: {
      input: join(import.meta.dirname, 'file', 'main.tsx'),
      treeshake,
      output: { codeSplitting: false, entryFileNames: 'app.js', assetFileNames: 'app[extname]' },
    },
  },
});
