import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { SignatureTimes } from '../signatures'
import { table } from '../table'

/** What signatures of that binary of Node take, in Markdown. */
export function signaturesOf(node: string): string {
  const program = join(__dirname, '..', 'built', 'signatures.js')
  const found: SignatureTimes = JSON.parse(execFileSync(node, [program], { encoding: 'utf8' }))
  const rows = Object.entries(found).map(([name, { sign, verify }]) => [
    name,
    sign.toFixed(0),
    verify.toFixed(0),
  ])
  return [
    '`crypto.sign` and `crypto.verify` of Node alone, in µs, with RSA keys of 2048 bits:',
    table(['', 'sign', 'verify'], rows),
  ].join('\n\n')
}
