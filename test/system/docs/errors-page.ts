import * as fs from 'node:fs'
import { join } from 'node:path'
import table from '../../../lib/protocol/refusal-table.json'

// Writes docs/errors.md from the table of refusals: npm run errors

const path = join(__dirname, '../../../docs/errors.md')

const head = `# Errors

A client or a resource owner sees an error code and a fixed text. Only \`invalid_scope\` names a part of the request: the first scope that fails, if it is well formed. The reason stays on the server, in the [event](events.md), with the request id that the response has in \`X-Request-Id\`. Outside production, a warning explains each reason once: what was read, the rule, and the cure. With \`errorUri\`, each response links to its section of a page such as this.

A program that accepts \`application/json\` and not \`text/html\` gets JSON in place of an error page. There, an unknown or disabled client is \`invalid_client\`, not \`invalid_request\`: a client that [registered itself](guides/dynamic-registration.md) registers again.

Each line is a reason, the rule that refuses, and what to do. A word behind a slash is one case of the reason. Plug-ins of a host may add reasons of their own.
`

interface Row {
  readonly error: string
  readonly rule: string
  readonly cure: string
}

const rows: readonly (readonly [string, Row])[] = Object.entries(table)

/** A case that says what the reason itself says needs no line. */
function isSaid(name: string, { error, rule, cure }: Row): boolean {
  const [reason = ''] = name.split('/')
  const plain = rows.find(([other, row]) => other === reason && row.error === error)?.[1]
  return name !== reason && plain !== undefined && plain.rule === rule && plain.cure === cure
}

function sectionOf(error: string): string {
  const lines = rows
    .filter(([name, row]) => row.error === error && !isSaid(name, row))
    .map(([name, { rule, cure }]) => `- \`${name}\`: ${rule} ${cure}`.replaceAll('<', '\\<'))
  return `\n## ${error}\n\n${lines.join('\n')}\n`
}

export function errorsPage(): string {
  const errors = [...new Set(rows.map(([, { error }]) => error))].filter((error) => error !== '')
  return head + errors.map(sectionOf).join('')
}

if (require.main === module) fs.writeFileSync(path, errorsPage())
