#!/usr/bin/env node
import { run } from './run'

// Ignores a closed pipe: a reader such as `head` may stop early.
process.stdout.on('error', () => {})

void run(process.argv.slice(2), process.env).then(({ status, output, remarks }) => {
  // Exits explicitly, because a loaded configuration may have opened a connection that keeps the process alive. The
  // callbacks make sure that all output is written first.
  process.exitCode = status
  process.stdout.write(output === '' ? '' : `${output}\n`, () =>
    process.stderr.write(remarks === '' ? '' : `${remarks}\n`, () => process.exit()),
  )
})
