/** How the console is built: one page, hashed files, nothing inline, nothing from elsewhere. */
import { join } from 'node:path';
import { defineConfig } from 'vite';

/** What the engine and the console have in common. */
const shared = join(import.meta.dirname, '..', 'src');

export default defineConfig({
  base: '/',
  build: {
    target: 'es2024',
    emptyOutDir: true,
    // A page that may load nothing but files of its origin cannot load what is written into another file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: true,
    rolldownOptions: {
      // Schemas that nobody here parses with are left out, and zod with them: the browser reads what the server has checked.
      treeshake: { moduleSideEffects: (id) => !id.startsWith(shared), manualPureFunctions: ['z'] },
    },
  },
});
