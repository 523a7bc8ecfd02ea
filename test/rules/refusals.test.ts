import express from 'express'
import table from '../../lib/protocol/refusal-table.json'
import { type AuthorizationServerOptions, createAuthorizationServer, OAuthError } from '../../lib/index'
import { canonicalOptions } from '../support/flows/application'
import { Flow } from '../support/flows/flow'

interface Row {
  readonly error: string
  readonly words: string
  readonly rule: string
  readonly cure: string
}

const rows: readonly (readonly [string, Row])[] = Object.entries(table)

// RFC 6749 5.2 and 8.5.
const code = /^[a-z_]*$/
const sendable = /^[\x20\x21\x23-\x5B\x5D-\x7E]*$/
const sentence = /^[A-Z].*[.)]$/

test('every reason has a code, words that may be sent, a rule and a cure', () => {
  const faulty = rows.filter(
    ([name, { error, words, rule, cure }]) =>
      !/^[a-z0-9_]+(?:\/[a-z0-9_]+)?$/.test(name) ||
      !code.test(error) ||
      !sendable.test(words) ||
      ![rule, cure].every((text) => sentence.test(text)),
  )
  expect(faulty).toEqual([])
  expect(rows.length).toBeGreaterThan(300)
})

test('a case of a reason has no name of a parameter, and stands beside its reason', () => {
  const names = new Set(rows.map(([name]) => name))
  const alone = rows.filter(([name]) => name.includes('/') && !names.has(name.slice(0, name.indexOf('/'))))
  expect(alone).toEqual([])
})

describe('outside production, a refusal is explained once, whatever its reason', () => {
  const usual = process.env['NODE_ENV']
  const warned: string[] = []
  beforeEach(() => {
    process.env['NODE_ENV'] = 'development'
    warned.length = 0
    jest.spyOn(process, 'emitWarning').mockImplementation((message) => void warned.push(String(message)))
  })
  afterEach(() => {
    process.env['NODE_ENV'] = usual
    jest.restoreAllMocks()
  })

  // A decision, or told by a warning of its own. `origin_not_allowed` is no refusal.
  const silent = new Set(['owner_denied', 'maintenance', 'closing', 'tls_required', 'origin_not_allowed'])
  const told = rows.filter(
    ([name, { error }]) => error !== 'server_error' && !silent.has(name.split('/')[0] ?? ''),
  )

  /** An endpoint that refuses for the reasons of the table, each at its turn. */
  function refusing(some: typeof told): Flow {
    const left = [...some, ...some]
    const endpoints: AuthorizationServerOptions['endpoints'] = [
      {
        name: 'refusing',
        path: '/refusing',
        clientAuthentication: 'none',
        handle() {
          const [name, { error, words }] = left.shift() ?? ['', { error: '', words: '' }]
          const [reason = '', cause] = name.split('/')
          throw new OAuthError(error, reason, words === '' ? 'No words.' : words, {
            observed: { cause, 'a thing that was read': 'as it came' },
          })
        },
      },
    ]
    const oauth = createAuthorizationServer({ ...canonicalOptions, limits: { networks: false }, endpoints })
    return new Flow(express().use(oauth.router()))
  }

  // A server gives 200 explanations.
  test.each([
    ['the first half', told.slice(0, 170)],
    ['the second half', told.slice(170)],
  ])('%s of the table: what was read, the rule and the cure', async (_half, some) => {
    const flow = refusing(some)
    for (let turn = 0; turn < 2 * some.length; turn++) await flow.submit('/refusing', 'a=1')
    const explained = warned.filter((text) => text.startsWith('A request'))
    expect(explained).toHaveLength(some.length)
    for (const [index, [name, { rule, cure }]] of some.entries())
      expect([name, explained[index]]).toEqual([
        name,
        expect.stringContaining(`Read: a thing that was read: "as it came". ${rule} ${cure} See`),
      ])
  })

  test('a failure of the server is told with its cause and the cure, if nobody listens', async () => {
    const failures = rows.filter(([, { error }]) => error === 'server_error')
    const flow = refusing(failures)
    for (let turn = 0; turn < failures.length; turn++) await flow.submit('/refusing', 'a=1')
    for (const [name, { cure }] of failures) {
      const text = warned.find((one) => one.startsWith(`${name}: OAuthError`))
      expect([name, text]).toEqual([name, expect.stringContaining(` ${cure} Listen for 'failure'`)])
    }
  })
})
