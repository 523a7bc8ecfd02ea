import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(__dirname, '../..')
const page = readFileSync(join(root, 'docs/errors.md'), 'utf8')

/** Every first argument of a call that makes an error: the reasons that events carry. */
function reasonsInCode(): string[] {
  const factories =
    /(?:invalid\w+|unauthorizedClient|unsupported\w+|accessDenied|serverError|temporarilyUnavailable|tooMany\w+|refused|refreshRefused|failed|malformed|badToken)\(\s*'([a-z0-9_]+)'/g
  const refusals = /new AccessRefusal\(\d+, '\w+', '([a-z_]+)'/g
  // A token type objects by a word of its own.
  const objections = /type Objection =((?:\s*\|?\s*'[a-z_]+')+)/g
  const files = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' })
  const sources = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(root, 'lib', file), 'utf8'))
  const code = sources.join('\n')
  const found = [...code.matchAll(factories), ...code.matchAll(refusals)]
  const objected = [...code.matchAll(objections)]
    .map(([union]) => union)
    .join(' ')
    .matchAll(/'([a-z_]+)'/g)
  return [...new Set([...found, ...objected].map(([, reason = '']) => reason))].toSorted()
}

test('the page of errors explains every reason in the code, and no other', () => {
  const explained = [...page.matchAll(/^\| `([a-z0-9_]+)`/gm)].map(([, reason = '']) => reason)
  const inCode = reasonsInCode()
  expect(inCode.length).toBeGreaterThan(50)
  expect([...new Set(explained)].toSorted()).toEqual(inCode)
})

test('the page of errors has a section under the name of every code', () => {
  const source = readFileSync(join(root, 'lib/protocol/oauth-error.ts'), 'utf8')
  const type = source.slice(
    source.indexOf('OAuthErrorCode ='),
    source.indexOf('/**', source.indexOf('OAuthErrorCode =')),
  )
  const codes = [...type.matchAll(/'([a-z_]+)'/g)].map(([, code = '']) => code)
  const sections = [...page.matchAll(/^## ([a-z_]+)$/gm)].map(([, code = '']) => code)
  expect(sections).toEqual(expect.arrayContaining([...codes, 'invalid_token', 'insufficient_scope']))
})
