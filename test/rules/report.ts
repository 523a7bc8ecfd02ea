// Prints each rule and each attack with the tests that prove it; with `--check`, only what is wrong. It fails, either way,
// when a rule or an attack has no test, a rule has two files, or a test names what no list has.
import { join } from 'node:path'
import { conformanceOf } from './report/conformance'

const { report, faults } = conformanceOf(join(__dirname, '../..'))
if (!process.argv.includes('--check')) process.stdout.write(report)
for (const fault of faults) process.stderr.write(`${fault}\n`)
if (faults.length > 0) process.exitCode = 1
