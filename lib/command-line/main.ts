#!/usr/bin/env node
import { run } from './run'

// A reader such as `head` may close the pipe early.
process.stdout.on('error', () => {})

void run(process.argv.slice(2), process.env).then(({ status, output, remarks }) => {
  // A loaded configuration may hold a connection open. Waits until all output is written.
  process.exitCode = status
  process.stdout.write(output === '' ? '' : `${output}\n`, () =>
    process.stderr.write(remarks === '' ? '' : `${remarks}\n`, () => process.exit()),
  )
})
