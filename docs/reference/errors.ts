import table from '../../lib/protocol/refusal-table.json'
import { blocks, list, pageOf, withCode } from './markdown'

const introduction = `# Errors

A client or a resource owner sees an error code and a fixed text. The reason stays on the server: in the [event](events.md), with the request id that the response has in \`X-Request-Id\`, and outside production in [a warning](warnings.md#eas_refused), with what was read and the clause of the specification.

With \`errorUri\`, each response links to its code on a page such as this. A program that accepts \`application/json\` and not \`text/html\` gets JSON in place of an error page, with \`invalid_client\` for an unknown or disabled client: [one that registered itself](guides/unregistered-clients.md#dynamic-registration) then registers again.

Below each code stand its reasons, and what to do. If a store or a function of yours failed, the event \`failure\` has the cause. Plug-ins may add reasons.`

interface Row {
  readonly reason: string
  readonly error: string
  readonly text: string
}

const clause =
  /\((?:RFC|OpenID|OAuth|SAML|RP-Initiated|Back-Channel|Fetch|draft-)[^;)]*(?:; ([^()]*(?:\(\)[^()]*)*))?\)/g

/** The page leaves out clauses such as `(RFC 6749 3.1)`, which warnings have. */
const withoutClauses = (rule: string) =>
  rule
    .replaceAll(clause, (_, rest?: string) => (rest === undefined ? '' : `(${rest})`))
    .replaceAll(/ +(?=[ ,.;:])/g, '')

const rows: readonly Row[] = Object.entries(table).map(([name, row]) => {
  const [reason = name] = name.split('/')
  const { error, rule } = row
  const cure = 'cure' in row ? ` ${row.cure}` : ''
  return { reason, error, text: withCode(withoutClauses(rule) + cure) }
})

const unique = (texts: readonly string[]) => [...new Set(texts)]
const linkTo = (reason: string) => `[\`${reason}\`](#${reason})`

/** Every case of the reason that says something of its own. */
function explanationOf(reason: string): string {
  const texts = unique(rows.filter((row) => row.reason === reason).map(({ text }) => text))
  const alike = rows.find((row) => row.text === texts[0])?.reason ?? reason
  if (alike !== reason) return `As ${linkTo(alike)}.`
  return texts.length === 1 ? texts.join('') : list(texts)
}

/** A reason stands below the first code that it has. */
const codeOf = (reason: string) => rows.find((row) => row.reason === reason)?.error

function sectionOf(code: string): string {
  const reasons = unique(rows.filter(({ error }) => error === code).map(({ reason }) => reason))
  const elsewhere = reasons.filter((reason) => codeOf(reason) !== code)
  return blocks(
    `## ${code === '' ? 'Without a code' : code}`,
    elsewhere.length === 0 ? '' : `Also ${elsewhere.map(linkTo).join(', ')}.`,
    ...reasons
      .filter((reason) => codeOf(reason) === code)
      .map((reason) => blocks(`### ${reason}`, explanationOf(reason))),
  )
}

export const errorsPage = (): string =>
  pageOf(introduction, ...unique(rows.map(({ error }) => error)).map(sectionOf))
