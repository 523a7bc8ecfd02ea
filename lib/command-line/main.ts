#!/usr/bin/env node
import { run } from './run'

// A reader that has seen enough, such as head, is no failure.
process.stdout.on('error', () => {})

void run(process.argv.slice(2), process.env).then(({ status, output, remarks }) => {
  // A configuration that was loaded may hold the process with what it opened; what was said is out before it ends.
  process.exitCode = status
  process.stdout.write(output === '' ? '' : `${output}\n`, () =>
    process.stderr.write(remarks === '' ? '' : `${remarks}\n`, () => process.exit()),
  )
})
