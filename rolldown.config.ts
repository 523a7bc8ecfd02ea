import { defineConfig } from 'rolldown'

// A few files instead of hundreds: finding and compiling each was most of the time in which the suite is loaded. What
// the entries share is a file of its own, so that an error or a warning is the same one to all of them.
export default defineConfig({
  input: {
    index: 'lib/index.ts',
    'stores/from/index': 'lib/stores/from/index.ts',
    'stores/postgres/index': 'lib/stores/postgres/index.ts',
    'stores/sqlite/index': 'lib/stores/sqlite/index.ts',
    'testing/index': 'lib/testing/index.ts',
    'command-line/main': 'lib/command-line/main.ts',
  },
  platform: 'node',
  external: /^[^./]/,
  output: {
    dir: 'dist',
    format: 'cjs',
    esModule: true,
    exports: 'named',
    chunkFileNames: 'shared/[name].js',
    codeSplitting: { groups: [{ name: 'ground', test: /lib\/(?:primitives|store)\//, minShareCount: 2 }] },
  },
})
