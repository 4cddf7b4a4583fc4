/** How the console is built: one page, hashed files, nothing inline, nothing from elsewhere. */
import { defineConfig } from 'vite';
import { treeshake } from './tree-shaking.ts';

export default defineConfig({
  base: '/',
  build: {
    target: 'es2024',
    emptyOutDir: true,
    // A page that may load nothing but files of its origin cannot load what is written into another file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: true,
    rolldownOptions: { treeshake },
  },
});
