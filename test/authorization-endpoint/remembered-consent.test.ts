import {
  allowedScope,
  choiceKey,
  clientFingerprint,
  decodeConsent,
  encodeConsent,
  factKeys,
  isRemembered,
  type RememberedConsent,
  type RememberedDecision,
  since,
  withDecision,
} from '../../lib/authorization-endpoint/remembered-consent'
import type { ConsentFact } from '../../lib/index'
import { clientWith } from '../support/authorization/client'

const fact = (name: string, ...values: readonly string[]): ConsentFact => ({
  name,
  label: name,
  values: values.map((value) => ({ value, description: value })),
})
const resource = (...uris: readonly string[]) => fact('resource', ...uris)
const plain = factKeys([])

const decision = (changed: Partial<RememberedDecision> = {}): RememberedDecision => ({
  at: 1000,
  fingerprint: 'client',
  choice: '',
  facts: plain,
  shown: ['a'],
  allowed: ['a'],
  ...changed,
})
const after = (...decisions: readonly Partial<RememberedDecision>[]): RememberedConsent => {
  let consent: RememberedConsent | undefined
  for (const each of decisions) consent = withDecision(consent, decision(each))
  if (consent === undefined) throw new Error('Give a decision.')
  return consent
}

describe('facts', () => {
  const whole = [resource('r1', 'r2'), fact('amount', '100'), fact('to', 'bob')]

  test('are one name for each resource, whatever their order', () => {
    expect(factKeys([resource('r1', 'r2')])).toHaveLength(2)
    expect(factKeys([resource('r2'), resource('r1')]).toSorted()).toEqual(
      factKeys([resource('r1', 'r2')]).toSorted(),
    )
    expect(factKeys([...whole].toReversed())).toEqual(factKeys(whole))
  })

  test.each<[string, readonly ConsentFact[]]>([
    ['another value', [resource('r1'), fact('amount', '500'), fact('to', 'bob')]],
    ['one value more', [resource('r1'), fact('amount', '100', '500'), fact('to', 'bob')]],
    ['one fact less', [resource('r1'), fact('amount', '100')]],
    ['one fact more', [...whole, fact('in', 'eur')]],
    ['no resource', [fact('amount', '100'), fact('to', 'bob')]],
    ['a resource without values', [resource(), fact('amount', '100'), fact('to', 'bob')]],
    ['values of two facts that change places', [resource('r1'), fact('amount', 'bob'), fact('to', '100')]],
  ])('of an extension count all together: not with %s', (_what, facts) => {
    const consent = after({ facts: factKeys(whole) })
    expect(isRemembered(consent, ['a'], { choice: '', facts: factKeys(whole) })).toBe(true)
    expect(isRemembered(consent, ['a'], { choice: '', facts: factKeys(facts) })).toBe(false)
  })

  test('of the name resource count with the others if they have no values', () => {
    expect(factKeys([resource(), fact('to', 'bob')])).not.toEqual(factKeys([fact('to', 'bob')]))
    expect(factKeys([resource(), resource('r1')])).not.toEqual(factKeys([resource('r1')]))
  })

  test('count without the words that a page shows', () => {
    const german = { ...fact('to', 'bob'), label: 'an', values: [{ value: 'bob', description: 'Bob' }] }
    expect(factKeys([german])).toEqual(factKeys([fact('to', 'bob')]))
  })
})

describe('a decision', () => {
  test('adds to earlier ones, and two of them together cover a request', () => {
    const consent = after({}, { shown: ['b'], allowed: ['b'] })
    expect(allowedScope(consent, { choice: '', facts: plain })).toEqual(['a', 'b'])
  })

  test('takes away what its page showed and its owner left out', () => {
    const consent = after({ shown: ['a', 'b'], allowed: ['a', 'b'] }, { shown: ['a', 'b'], allowed: ['b'] })
    expect(allowedScope(consent, { choice: '', facts: plain })).toEqual(['b'])
  })

  test('takes nothing away for other resources or another answer', () => {
    const [r1, r2] = [factKeys([resource('r1')]), factKeys([resource('r2')])]
    const consent = after(
      { facts: [...r1, ...r2] },
      { facts: plain, choice: 'w1' },
      { facts: r1, choice: 'w2' },
      { facts: r1, allowed: [] },
    )
    expect(allowedScope(consent, { choice: '', facts: r1 })).toEqual([])
    expect(allowedScope(consent, { choice: '', facts: r2 })).toEqual(['a'])
    expect(allowedScope(consent, { choice: 'w1', facts: plain })).toEqual(['a'])
    expect(allowedScope(consent, { choice: 'w1', facts: r2 })).toBeUndefined()
    expect(allowedScope(consent, { choice: 'w2', facts: r1 })).toEqual(['a'])
  })

  test('replaces an earlier one, and keeps no rest that allows nothing', () => {
    const [r1, r2] = [factKeys([resource('r1')]), factKeys([resource('r2')])]
    expect(after({}, {}, { allowed: [] }).entries).toHaveLength(1)
    expect(after({ facts: r1, shown: ['b'], allowed: ['b'] }, { facts: r2 }).entries).toHaveLength(2)
    expect(after({ facts: [...r1, ...r2] }, { facts: r1 }).entries.map(({ facts }) => facts)).toEqual([
      r2,
      r1,
    ])
  })

  test('allows for several resources only what each of them has', () => {
    const [r1, r2] = [factKeys([resource('r1')]), factKeys([resource('r2')])]
    const consent = after({ facts: r1, shown: ['a', 'b'], allowed: ['a', 'b'] }, { facts: r2 })
    expect(allowedScope(consent, { choice: '', facts: [...r1, ...r2] })).toEqual(['a'])
    expect(isRemembered(consent, ['b'], { choice: '', facts: [...r1, ...r2] })).toBe(false)
  })

  test('allows nothing for several resources if one of them was never asked', () => {
    const [r1, r2] = [factKeys([resource('r1')]), factKeys([resource('r2')])]
    for (const facts of [
      [...r1, ...r2],
      [...r2, ...r1],
    ]) {
      expect(allowedScope(after({ facts: r1 }), { choice: '', facts })).toBeUndefined()
      expect(isRemembered(after({ facts: r1 }), ['a'], { choice: '', facts })).toBe(false)
    }
  })

  test('for a client that has changed forgets all that came before', () => {
    const consent = after({}, { fingerprint: 'another', shown: ['b'], allowed: ['b'] })
    expect(allowedScope(consent, { choice: '', facts: plain })).toEqual(['b'])
  })

  test('without a scope covers a request without one, and nothing covers it before', () => {
    const other = after({ choice: 'w1' })
    expect(isRemembered(other, [], { choice: '', facts: plain })).toBe(false)
    const consent = after({ shown: [], allowed: [] })
    expect(isRemembered(consent, [], { choice: '', facts: plain })).toBe(true)
  })

  test('from before a time does not count after it', () => {
    const consent = after({ at: 10 }, { at: 20, shown: ['b'], allowed: ['b'] })
    expect(allowedScope(since(consent, 10), { choice: '', facts: plain })).toEqual(['b'])
    expect(allowedScope(since(consent, 20), { choice: '', facts: plain })).toBeUndefined()
  })
})

describe('an answer', () => {
  const answer = { extension: 'choices', name: 'workspace', value: 'w1' }

  test.each([{ extension: 'other' }, { name: 'account' }, { value: 'w2' }])('differs by %j', (change) => {
    expect(choiceKey({ ...answer, ...change })).not.toBe(choiceKey(answer))
  })

  test('is none without a question', () => {
    expect(choiceKey(undefined)).toBe('')
  })
})

describe('the fingerprint of a client', () => {
  const keys = { private_key_jwt: { keys: [{ kty: 'EC', x: '1', y: '2' }] } }
  const client = {
    ...clientWith({ redirect_uris: ['https://a.example/', 'https://b.example/'] }),
    credentials: keys,
  }

  test.each<[string, object]>([
    ['a destination', { redirect_uris: ['https://evil.example/'] }],
    ['a destination more', { redirect_uris: [...client.redirect_uris, 'https://evil.example/'] }],
    ['a key', { credentials: { private_key_jwt: { keys: [{ kty: 'EC', x: '1', y: '3' }] } } }],
    ['the place of its keys', { credentials: { private_key_jwt: { jwks_uri: 'https://a.example/' } } }],
    ['a key of its requests', { members: { jwks: { keys: [{ kty: 'EC', x: '1', y: '4' }] } } }],
    ['the place of the keys of its requests', { members: { jwks_uri: 'https://a.example/' } }],
    ['its method of authentication', { token_endpoint_auth_method: 'none' }],
    ['its type', { client_type: 'public' }],
    ['ports of loopback', { loopback_redirect_uris: true }],
    ['queries of its destinations', { dynamic_redirect_query: true }],
    ['destinations without TLS', { insecure_redirect_uris: true }],
  ])('changes with %s', (_what, change) => {
    expect(clientFingerprint({ ...client, ...change })).not.toBe(clientFingerprint(client))
  })

  test.each<[string, object]>([
    ['its name', { client_name: 'Other' }],
    ['a secret', { client_secret_hashes: ['sha256:x'] }],
    ['the order of its destinations', { redirect_uris: [...client.redirect_uris].toReversed() }],
    ['the order of members', { credentials: { private_key_jwt: { keys: [{ y: '2', x: '1', kty: 'EC' }] } } }],
  ])('stays with %s', (_what, change) => {
    expect(clientFingerprint({ ...client, ...change })).toBe(clientFingerprint(client))
  })
})

describe('the text in the store', () => {
  test('comes back as it was', () => {
    const consent = after({ choice: 'w1' }, { facts: ['x', 'y'], shown: [], allowed: [] })
    expect(decodeConsent(encodeConsent(consent) ?? '')).toEqual(consent)
  })

  test('drops the oldest decisions of one that is too long', () => {
    const scope = Array.from({ length: 20 }, (_, number) => `${'s'.repeat(50)}${number}`)
    const decisions = Array.from({ length: 30 }, (_, at) => ({ at, choice: `w${at}`, allowed: scope }))
    const text = encodeConsent(after(...decisions)) ?? ''
    expect(text.length).toBeLessThanOrEqual(16_384)
    const left = decodeConsent(text)?.entries.map(({ at }) => at) ?? []
    expect(left.at(-1)).toBe(29)
    expect(left.length).toBeGreaterThan(10)
    expect(left).toEqual(Array.from(left, (_, index) => 30 - left.length + index))
  })

  test('is none if one decision is too long', () => {
    expect(encodeConsent(after({ allowed: ['x'.repeat(17_000)] }))).toBeUndefined()
  })

  test.each([
    '',
    '{',
    'null',
    '[]',
    '[2,"client",[]]',
    '[1,"",[]]',
    '[1,"client",{}]',
    '[1,"client",[null]]',
    '[1,"client",[[1,"",["f"],["a"]],[1,"",["f"],"a"]]]',
    '[1,"client",[["1","",["f"],["a"]]]]',
    '[1,"client",[[1,null,["f"],["a"]]]]',
    '{"__proto__":[1,"client",[]]}',
  ])('is no consent if it is %s', (text) => {
    expect(decodeConsent(text)).toBeUndefined()
  })
})
