#!/usr/bin/env node
import { run } from './run'

// A reader that has seen enough, such as head, is no failure.
process.stdout.on('error', () => {})

void run(process.argv.slice(2), process.env).then(({ status, output, remarks }) => {
  if (output !== '') process.stdout.write(`${output}\n`)
  if (remarks !== '') process.stderr.write(`${remarks}\n`)
  process.exitCode = status
})
