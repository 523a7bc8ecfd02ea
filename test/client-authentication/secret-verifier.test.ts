import bcrypt from 'bcrypt'
import {
  generateClientSecret,
  type GeneratedClientSecret,
  SecretVerifier,
} from '../../lib/client-authentication/client-secret'
import type { Throttle } from '../../lib/client-authentication/method'
import type { Client } from '../../lib/protocol/client'
import { clientWith } from '../support/authorization/client'
import { freely } from '../support/rooms/secrets'

const generated = generateClientSecret()
const later = generateClientSecret()
const hashOf = ({ client_secret_hash }: GeneratedClientSecret) => client_secret_hash
const quick = bcrypt.hashSync('secret', 4)
const another = bcrypt.hashSync('another', 4)

const chosen = clientWith({ client_secret_hashes: [quick] })
const modern = clientWith({ client_id: 'modern', client_secret_hashes: [generated.client_secret_hash] })

const costly = bcrypt.hashSync('secret', 6)
const withoutSecret = clientWith({ client_type: 'public', client_secret_hashes: [] })

// The comparisons are real, except in crowds. The tests look at their number and at the digests.
const { compare: reallyCompare } = bcrypt
const compare = jest.spyOn(bcrypt, 'compare')
const comparisons = () => compare.mock.calls.map(([, digest]) => digest)
const roundsCompared = () =>
  comparisons().reduce((rounds, digest) => rounds + 2 ** Number(digest.slice(4, 6)), 0)
beforeEach(() => compare.mockReset().mockImplementation(reallyCompare))

let now = 0
let secrets: SecretVerifier
beforeEach(() => {
  now = 1_800_000_000_000
  secrets = new SecretVerifier(() => now)
})

/** Makes many digests. In the test that asks for them every secret matches, because real comparisons take seconds. */
function crowdOfDigests(length: number): readonly string[] {
  compare.mockImplementation(async () => true)
  return Array.from({ length }, (_, index) => quick.slice(0, -4) + String(index).padStart(4, '0'))
}

const verify = async (client: Client | undefined, secret: string, withinLimits = freely) =>
  secrets.verify(client, secret, withinLimits)

describe('SecretVerifier: what it remembers', () => {
  it('compares once for a secret that succeeded, and then remembers', async () => {
    for (let round = 0; round < 5; round++) expect(await verify(chosen, 'secret')).toBe(true)
    expect(comparisons()).toEqual([quick])
  })

  it('never remembers a failure', async () => {
    for (let round = 0; round < 3; round++) expect(await verify(chosen, 'wrong')).toBe(false)
    expect(comparisons()).toEqual([quick, quick, quick])
  })

  it('still refuses a wrong secret when the right one is remembered [client-18]', async () => {
    await verify(chosen, 'secret')
    expect(await verify(chosen, 'wrong')).toBe(false)
    expect(await verify(chosen, 'secre')).toBe(false)
    expect(await verify(chosen, 'secret')).toBe(true)
    expect(comparisons()).toHaveLength(3)
  })

  it('remembers for five minutes from the success, and not from the last use', async () => {
    await verify(chosen, 'secret')
    now += 299_999
    await verify(chosen, 'secret')
    expect(comparisons()).toHaveLength(1)
    now += 1
    await verify(chosen, 'secret')
    expect(comparisons()).toHaveLength(2)
    now += 299_999
    await verify(chosen, 'secret')
    expect(comparisons()).toHaveLength(2)
  })

  it('forgets with the digest: a secret that was taken from its client is dead at once [client-17]', async () => {
    await verify(chosen, 'secret')
    const rotated = clientWith({ client_secret_hashes: [another] })
    expect(await verify(rotated, 'secret')).toBe(false)
    expect(await verify(undefined, 'secret')).toBe(false)
  })

  it('does not take what it remembers of one client for another', async () => {
    await verify(chosen, 'secret')
    const other = clientWith({ client_id: 'other', client_secret_hashes: [another] })
    expect(await verify(other, 'secret')).toBe(false)
  })

  it('remembers either secret of a client that rotates', async () => {
    const rotating = clientWith({ client_secret_hashes: [quick, another] })
    for (let round = 0; round < 3; round++) {
      expect(await verify(rotating, 'another')).toBe(true)
      expect(await verify(rotating, 'secret')).toBe('by an old secret')
    }
    expect(comparisons()).toEqual([another, another, quick])
  })

  it.each([
    ['chosen', ['secret', 'another'], [quick, another]],
    ['generated', [generated.client_secret, later.client_secret], [generated, later].map(hashOf)],
    ['a chosen and a generated one', ['secret', later.client_secret], [quick, hashOf(later)]],
    ['a generated and a chosen one', [later.client_secret, 'secret'], [hashOf(later), quick]],
  ])(
    'distinguishes the current secret, which is the last, from an old one: %s',
    async (_kind, [old, current], hashes) => {
      const rotating = clientWith({ client_secret_hashes: hashes })
      for (let round = 0; round < 2; round++) {
        expect(await verify(rotating, old ?? '')).toBe('by an old secret')
        expect(await verify(rotating, current ?? '')).toBe(true)
        expect(await verify(rotating, 'wrong')).toBe(false)
      }
    },
  )

  it('takes a remembered secret for an old one as soon as another has taken its place', async () => {
    expect(await verify(chosen, 'secret')).toBe(true)
    const rotating = clientWith({ client_secret_hashes: [quick, hashOf(later)] })
    expect(await verify(rotating, 'secret')).toBe('by an old secret')
    expect(comparisons()).toEqual([quick])
  })

  it('shares nothing with another verifier', async () => {
    await verify(chosen, 'secret')
    await new SecretVerifier(() => now).verify(chosen, 'secret', freely)
    expect(comparisons()).toHaveLength(2)
  })

  it('keeps neither secrets nor digests', async () => {
    await verify(chosen, 'secret')
    const kept = JSON.stringify(secrets, (_key, value: unknown) =>
      value instanceof Map ? [...value] : value,
    )
    expect(kept).toContain('remembered')
    expect(kept).not.toContain('secret')
    expect(kept).not.toContain(quick)
  })

  it('keeps no place for secrets that are quick to check', async () => {
    await verify(chosen, 'secret')
    for (let count = 0; count < 1000; count++) {
      const { client_secret, client_secret_hash } = generateClientSecret()
      await verify(clientWith({ client_secret_hashes: [client_secret_hash] }), client_secret)
    }
    await verify(chosen, 'secret')
    expect(comparisons()).toHaveLength(1)
  })

  it('remembers a thousand at most, and forgets the oldest for one more', async () => {
    const digests = crowdOfDigests(1001)
    const crowd = digests.map((digest) => clientWith({ client_secret_hashes: [digest] }))
    for (const client of crowd) await verify(client, 'secret')
    compare.mockClear()
    for (const client of crowd.slice(1)) await verify(client, 'secret')
    expect(comparisons()).toEqual([])
    for (const client of crowd.slice(0, 1)) await verify(client, 'secret')
    expect(comparisons()).toEqual(digests.slice(0, 1))
  })
})

describe('SecretVerifier: what it costs', () => {
  it('costs no bcrypt where no client uses bcrypt', async () => {
    expect(await verify(modern, generated.client_secret)).toBe(true)
    expect(await verify(modern, 'wrong')).toBe(false)
    expect(await verify(undefined, 'wrong')).toBe(false)
    expect(comparisons()).toEqual([])
  })

  it.each([
    ['one digest', [quick]],
    ['two', [quick, another]],
    ['two of different cost', [quick, costly]],
    ['one beside a generated secret', [hashOf(later), costly]],
  ])(
    'costs as many rounds for every refusal, once a client with %s was seen [client-8]',
    async (_what, hashes) => {
      const most = clientWith({ client_id: 'most', client_secret_hashes: hashes })
      await verify(most, 'wrong')
      const rounds = roundsCompared()
      expect(rounds).toBeGreaterThanOrEqual(16)
      for (const client of [undefined, chosen, modern, withoutSecret, most]) {
        compare.mockClear()
        expect(await verify(client, 'wrong')).toBe(false)
        expect(roundsCompared()).toBe(rounds)
      }
    },
  )

  it('costs as many comparisons, too, where all digests cost the same', async () => {
    const two = clientWith({ client_secret_hashes: [quick, another] })
    await verify(two, 'wrong')
    for (const client of [undefined, clientWith({ client_secret_hashes: [quick] }), two]) {
      compare.mockClear()
      await verify(client, 'wrong')
      expect(comparisons()).toHaveLength(2)
    }
  })

  it('never takes a decoy for a digest of the client', async () => {
    await verify(clientWith({ client_secret_hashes: [costly] }), 'wrong')
    expect(await verify(chosen, 'secret')).toBe(true)
    expect(await verify(chosen, 'decoy')).toBe(false)
    expect(await verify(undefined, 'decoy')).toBe(false)
  })

  it('costs nothing more for a generated secret that is right', async () => {
    await verify(chosen, 'wrong')
    compare.mockClear()
    expect(await verify(modern, generated.client_secret)).toBe(true)
    expect(comparisons()).toEqual([])
  })

  it('matches no secret of an unknown client', async () => {
    await verify(chosen, 'secret')
    for (const guess of ['', 'secret', 'decoy', '\0']) expect(await verify(undefined, guess)).toBe(false)
  })

  it('never matches a secret longer than 72 bytes by its beginning, remembered or not', async () => {
    const beginning = 'x'.repeat(72)
    const client = clientWith({ client_secret_hashes: [await bcrypt.hash(beginning, 4)] })
    expect(await verify(client, `${beginning}x`)).toBe(false)
    expect(await verify(client, beginning)).toBe(true)
    expect(await verify(client, `${beginning}x`)).toBe(false)
  })
})

describe('SecretVerifier: what may be a guess', () => {
  const guesses = jest.fn()
  const limited: Throttle = async (verification, credential) => {
    if (credential !== 'known') guesses()
    return verification()
  }
  beforeEach(() => guesses.mockClear())

  it.each([
    ['a wrong secret', chosen],
    ['a wrong secret of a client with a generated one', modern],
    ['a secret of a client without any', withoutSecret],
    ['a secret of an unknown client', undefined],
  ])('is %s', async (_what, client) => {
    expect(await verify(client, 'wrong', limited)).toBe(false)
    expect(guesses).toHaveBeenCalledTimes(1)
  })

  it('is a chosen secret that was not verified here before, right as it may be', async () => {
    expect(await verify(chosen, 'secret', limited)).toBe(true)
    expect(guesses).toHaveBeenCalledTimes(1)
  })

  it('is not a generated secret that is right, not even beside a chosen one', async () => {
    const both = clientWith({ client_secret_hashes: [hashOf(generated), quick] })
    expect(await verify(modern, generated.client_secret, limited)).toBe(true)
    expect(await verify(both, generated.client_secret, limited)).toBe('by an old secret')
    expect(guesses).not.toHaveBeenCalled()
    expect(comparisons()).toEqual([])
  })

  it('is not a secret that was verified within a day; after five minutes it is verified again', async () => {
    await verify(chosen, 'secret')
    for (let hour = 0; hour < 48; hour++) {
      now += 12 * 3_600_000
      expect(await verify(chosen, 'secret', limited)).toBe(true)
    }
    expect(guesses).not.toHaveBeenCalled()
    expect(comparisons()).toHaveLength(49)
    now += 24 * 3_600_000
    expect(await verify(chosen, 'secret', limited)).toBe(true)
    expect(guesses).toHaveBeenCalledTimes(1)
  })

  it('is not verified again as often as it comes at once', async () => {
    await verify(chosen, 'secret')
    now += 300_000
    const verdicts = await Promise.all(Array.from({ length: 100 }, () => verify(chosen, 'secret', limited)))
    expect(new Set(verdicts)).toEqual(new Set([true]))
    expect(comparisons()).toHaveLength(2)
  })

  it('is a secret that was verified at a digest which its client has no more', async () => {
    await verify(chosen, 'secret')
    expect(await verify(clientWith({ client_secret_hashes: [another] }), 'secret', limited)).toBe(false)
    expect(guesses).toHaveBeenCalledTimes(1)
  })

  it('is not forgotten for a thousand others, as long as it is used', async () => {
    await verify(chosen, 'secret')
    for (const [at, digest] of crowdOfDigests(1500).entries()) {
      await verify(clientWith({ client_secret_hashes: [digest] }), 'secret')
      if (at % 500 === 0) await verify(chosen, 'secret')
    }
    await verify(chosen, 'secret', limited)
    expect(guesses).not.toHaveBeenCalled()
  })
})
