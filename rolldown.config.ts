import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { defineConfig } from 'rolldown'

const paths = readdirSync('lib/paths')

// A few files instead of hundreds: finding and compiling each was most of the time in which the suite is loaded. What
// the entries share is a file of its own, so that an error or a warning is the same one to all of them.
export default defineConfig({
  input: {
    index: 'lib/index.ts',
    'command-line/main': 'lib/command-line/main.ts',
    ...Object.fromEntries(paths.map((file) => [`paths/${basename(file, '.ts')}`, `lib/paths/${file}`])),
  },
  platform: 'node',
  external: /^[^./]/,
  output: {
    dir: 'dist',
    format: 'cjs',
    esModule: true,
    exports: 'named',
    chunkFileNames: 'shared/[name].js',
    // A guest's code, and what only guests share, stays out of the core.
    codeSplitting: {
      groups: [
        {
          name: 'core',
          test: /lib\/(?!clients|jwt|resource-server|stores\/|testing|command-line|client-authentication\/client-keys|token-endpoint\/grant-types\/assertion)/,
          minShareCount: 2,
        },
      ],
    },
  },
})
