import bcrypt from 'bcrypt'
import {
  generateClientSecret,
  type GeneratedClientSecret,
} from '../../lib/client-authentication/client-secret'
import { SecretVerifier } from '../../lib/client-authentication/secret-verifier'
import { clientWith } from '../support/authorization/client'

const generated = generateClientSecret()
const later = generateClientSecret()
const hashOf = ({ client_secret_hash }: GeneratedClientSecret) => client_secret_hash
const quick = bcrypt.hashSync('secret', 4)
const another = bcrypt.hashSync('another', 4)

const chosen = clientWith({ client_secret_hashes: [quick] })
const modern = clientWith({ client_id: 'modern', client_secret_hashes: [generated.client_secret_hash] })

// The comparisons are real; only their number and what they compare with is looked at.
const compare = jest.spyOn(bcrypt, 'compare')
const comparisons = () => compare.mock.calls.map(([, digest]) => digest)
beforeEach(() => compare.mockClear())

let now = 0
let secrets: SecretVerifier
beforeEach(() => {
  now = 1_800_000_000_000
  secrets = new SecretVerifier(() => now)
})

describe('SecretVerifier: what it remembers', () => {
  it('compares once for a secret that succeeded, and then remembers', async () => {
    for (let round = 0; round < 5; round++) expect(await secrets.verify(chosen, 'secret')).toBe(true)
    expect(comparisons()).toEqual([quick])
  })

  it('never remembers a failure', async () => {
    for (let round = 0; round < 3; round++) expect(await secrets.verify(chosen, 'wrong')).toBe(false)
    expect(comparisons()).toEqual([quick, quick, quick])
  })

  it('still refuses a wrong secret when the right one is remembered', async () => {
    await secrets.verify(chosen, 'secret')
    expect(await secrets.verify(chosen, 'wrong')).toBe(false)
    expect(await secrets.verify(chosen, 'secre')).toBe(false)
    expect(await secrets.verify(chosen, 'secret')).toBe(true)
    expect(comparisons()).toHaveLength(3)
  })

  it('remembers for five minutes from the success, and not from the last use', async () => {
    await secrets.verify(chosen, 'secret')
    now += 299_999
    await secrets.verify(chosen, 'secret')
    expect(comparisons()).toHaveLength(1)
    now += 1
    await secrets.verify(chosen, 'secret')
    expect(comparisons()).toHaveLength(2)
    now += 299_999
    await secrets.verify(chosen, 'secret')
    expect(comparisons()).toHaveLength(2)
  })

  it('forgets with the digest: a secret that was taken from its client is dead at once', async () => {
    await secrets.verify(chosen, 'secret')
    const rotated = clientWith({ client_secret_hashes: [another] })
    expect(await secrets.verify(rotated, 'secret')).toBe(false)
    expect(await secrets.verify(undefined, 'secret')).toBe(false)
  })

  it('does not take what it remembers of one client for another', async () => {
    await secrets.verify(chosen, 'secret')
    const other = clientWith({ client_id: 'other', client_secret_hashes: [another] })
    expect(await secrets.verify(other, 'secret')).toBe(false)
  })

  it('remembers either secret of a client that rotates', async () => {
    const rotating = clientWith({ client_secret_hashes: [quick, another] })
    for (let round = 0; round < 3; round++) {
      expect(await secrets.verify(rotating, 'another')).toBe(true)
      expect(await secrets.verify(rotating, 'secret')).toBe('by an old secret')
    }
    expect(comparisons()).toEqual([another, another, quick])
  })

  it.each([
    ['chosen', ['secret', 'another'], [quick, another]],
    ['generated', [generated.client_secret, later.client_secret], [generated, later].map(hashOf)],
    ['a chosen and a generated one', ['secret', later.client_secret], [quick, hashOf(later)]],
    ['a generated and a chosen one', [later.client_secret, 'secret'], [hashOf(later), quick]],
  ])(
    'tells the current secret, which is the last, from an old one: %s',
    async (_kind, [old, current], hashes) => {
      const rotating = clientWith({ client_secret_hashes: hashes })
      for (let round = 0; round < 2; round++) {
        expect(await secrets.verify(rotating, old ?? '')).toBe('by an old secret')
        expect(await secrets.verify(rotating, current ?? '')).toBe(true)
        expect(await secrets.verify(rotating, 'wrong')).toBe(false)
      }
    },
  )

  it('takes a remembered secret for an old one as soon as another has taken its place', async () => {
    expect(await secrets.verify(chosen, 'secret')).toBe(true)
    const rotating = clientWith({ client_secret_hashes: [quick, hashOf(later)] })
    expect(await secrets.verify(rotating, 'secret')).toBe('by an old secret')
    expect(comparisons()).toEqual([quick])
  })

  it('shares nothing with another verifier', async () => {
    await secrets.verify(chosen, 'secret')
    await new SecretVerifier(() => now).verify(chosen, 'secret')
    expect(comparisons()).toHaveLength(2)
  })

  it('keeps neither secrets nor digests', async () => {
    await secrets.verify(chosen, 'secret')
    const kept = JSON.stringify(secrets, (_key, value: unknown) =>
      value instanceof Map ? [...value] : value,
    )
    expect(kept).toContain('remembered')
    expect(kept).not.toContain('secret')
    expect(kept).not.toContain(quick)
  })

  it('keeps no place for secrets that are quick to check', async () => {
    await secrets.verify(chosen, 'secret')
    for (let count = 0; count < 1000; count++) {
      const { client_secret, client_secret_hash } = generateClientSecret()
      await secrets.verify(clientWith({ client_secret_hashes: [client_secret_hash] }), client_secret)
    }
    await secrets.verify(chosen, 'secret')
    expect(comparisons()).toHaveLength(1)
  })

  it('remembers a thousand at most, and forgets the oldest for one more', async () => {
    const digests = await Promise.all(Array.from({ length: 1001 }, () => bcrypt.hash('secret', 4)))
    const crowd = digests.map((digest) => clientWith({ client_secret_hashes: [digest] }))
    for (const client of crowd) await secrets.verify(client, 'secret')
    compare.mockClear()
    for (const client of crowd.slice(1)) await secrets.verify(client, 'secret')
    expect(comparisons()).toEqual([])
    for (const client of crowd.slice(0, 1)) await secrets.verify(client, 'secret')
    expect(comparisons()).toEqual(digests.slice(0, 1))
  })
})

describe('SecretVerifier: what it costs', () => {
  it('costs no bcrypt where no client uses bcrypt', async () => {
    expect(await secrets.verify(modern, generated.client_secret)).toBe(true)
    expect(await secrets.verify(modern, 'wrong')).toBe(false)
    expect(await secrets.verify(undefined, 'wrong')).toBe(false)
    expect(comparisons()).toEqual([])
  })

  it.each([
    ['an unknown client', undefined],
    ['a wrong secret of a client with a generated one', modern],
    ['a client without a secret', clientWith({ client_type: 'public', client_secret_hashes: [] })],
  ])('costs one comparison at bcrypt cost 10 for %s, once bcrypt is in use', async (_what, client) => {
    await secrets.verify(chosen, 'wrong')
    compare.mockClear()
    expect(await secrets.verify(client, 'wrong')).toBe(false)
    expect(comparisons()).toEqual([expect.stringMatching(/^\$2b\$10\$/)])
  })

  it('costs nothing more for a generated secret that is right', async () => {
    await secrets.verify(chosen, 'wrong')
    compare.mockClear()
    expect(await secrets.verify(modern, generated.client_secret)).toBe(true)
    expect(comparisons()).toEqual([])
  })

  it('matches nobody when the client is unknown, whatever the secret', async () => {
    await secrets.verify(chosen, 'secret')
    for (const guess of ['', 'secret', 'decoy', '\0'])
      expect(await secrets.verify(undefined, guess)).toBe(false)
  })

  it('never matches a secret longer than 72 bytes by its beginning, remembered or not', async () => {
    const beginning = 'x'.repeat(72)
    const client = clientWith({ client_secret_hashes: [await bcrypt.hash(beginning, 4)] })
    expect(await secrets.verify(client, `${beginning}x`)).toBe(false)
    expect(await secrets.verify(client, beginning)).toBe(true)
    expect(await secrets.verify(client, `${beginning}x`)).toBe(false)
  })
})
