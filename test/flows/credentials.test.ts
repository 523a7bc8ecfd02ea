import bcrypt from 'bcrypt'
import * as fc from 'fast-check'
import { createHash, randomUUID } from 'node:crypto'
import { generateClientSecret, hashClientSecret, type ClientRegistration, memoryStore } from '../../lib/index'
import { registeredClients } from '../../lib/paths/registration'
import { privateKeyJwt } from '../../lib/paths/jwt'
import { json, jwt, signer } from '../support/assertions/jwt'
import { nightlyReport } from '../support/flows/clients'
import { basic } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'
import { anyText } from '../support/any-text'

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const refused = '401 invalid_client'
const raw = (text: string | Buffer) => `Basic ${Buffer.from(text).toString('base64')}`
/** The digest of any secret, as that of a generated one. */
const digestOf = (secret: string) => `sha256:${createHash('sha256').update(secret).digest('base64url')}`

const clientWith = (client_id: string, ...client_secret_hashes: readonly string[]): ClientRegistration => ({
  ...nightlyReport.registration,
  client_id,
  client_secret_hashes,
})

/** A server at which every client has this secret, and what it was asked for. */
function serverOf(...hashes: readonly string[]) {
  const asked: string[] = []
  const find = async (clientId: string) => (asked.push(clientId), clientWith(clientId, ...hashes))
  const set = setStage({ clients: { find }, limits: { clientAuthentication: false } })
  const come = async (Authorization: string) =>
    outcomeOf(await set.flow.submit('/token', grant, undefined, { Authorization }))
  return { ...set, asked, come }
}

describe('A Basic header', () => {
  test.each([
    ['a second colon in a raw secret', raw('a:b:c'), 'a', 'b:c'],
    ['a colon in an encoded identifier', raw('a%3Ab:c'), 'a:b', 'c'],
    ['a plus as a space', raw('a+b:c+d'), 'a b', 'c d'],
    ['an encoded plus', raw('a%2Bb:c%2Bd'), 'a+b', 'c+d'],
    ['a percent at the end of a triplet', raw('a%20%:b%'), 'a %', 'b%'],
    ['a percent before what is not hexadecimal', raw('a%zz:b%2g'), 'a%zz', 'b%2g'],
    ['triplets that are not UTF-8', raw('a%FF:b%C3%28'), 'a%FF', 'b%C3%28'],
    ['raw letters beside triplets', raw('é%C3%A9:ü%20'), 'éé', 'ü '],
    ['an emoji', raw('🖨:🔑'), '🖨', '🔑'],
    ['a NUL in the secret', raw('a:c%00d'), 'a', 'c\0d'],
    ['a scheme in any letter case', 'bAsIc YTpi', 'a', 'b'],
    ['more spaces than needed', 'Basic   YTpi  ', 'a', 'b'],
    ['base64 without its padding', 'Basic YTpiYw', 'a', 'bc'],
    ['the alphabet of URLs', `Basic ${Buffer.from('a:>>>???').toString('base64url')}`, 'a', '>>>???'],
  ])('is read with %s', async (_, header, clientId, secret) => {
    const { come, asked } = serverOf(digestOf(secret))
    expect([await come(header), asked]).toEqual(['tokens', [clientId]])
  })

  test.each([
    ['nothing but the scheme', 'Basic'],
    ['two values', 'Basic YTpi YTpi'],
    ['a parameter', 'Basic realm="oauth"'],
    ['padding in the middle', 'Basic Y=Tpi'],
    ['text that is not base64', 'Basic a:b'],
    // RFC 7617 2: base64 as in RFC 4648 4. These are letters of token68.
    ['a tilde', 'Basic YT~pi'],
    ['dots', 'Basic YTpi....'],
    ['no colon', raw('client')],
    ['a colon that is form encoded', raw('client%3Asecret')],
    ['no client', raw(':secret')],
    ['Latin-1', raw(Buffer.from('a:\u00E9', 'latin1'))],
  ])('is malformed with %s, and no client is looked for [input-9]', async (_, header) => {
    const { come, asked, failures } = serverOf(digestOf(''))
    expect([await come(header), asked]).toEqual([refused, []])
    expect(failures).toMatchObject([{ reason: 'basic_malformed' }])
  })

  test.each(['Basically YTpi', 'NotBasic YTpi', 'Basic\tYTpi'])('is none that reads %j', async (header) => {
    const { come, failures } = serverOf(digestOf('b'))
    expect(await come(header)).toBe(refused)
    expect(failures).toMatchObject([{ reason: 'no_client_authentication' }])
  })

  test('brings any secret, form encoded, percent encoded, and raw if it holds no escape', async () => {
    const hashes: string[] = []
    const find = async (clientId: string) => clientWith(clientId, ...hashes)
    const { flow } = setStage({ clients: { find }, limits: { clientAuthentication: false } })
    const check = async (secret: string) => {
      hashes.splice(0, 1, digestOf(secret))
      const headers = [basic('a', secret), raw(`a:${encodeURIComponent(secret)}`)]
      if (!/[%+]/.test(secret)) headers.push(raw(`a:${secret}`))
      for (const Authorization of headers)
        expect((await flow.submit('/token', grant, undefined, { Authorization })).status).toBe(200)
    }
    const secrets = anyText({ minLength: 1, maxLength: 60 })
    await fc.assert(fc.asyncProperty(secrets, check), { seed: 9, numRuns: 15 })
  })
})

test('A generated secret has 256 bits, another one each time, and a digest that no other text matches [client-12]', async () => {
  const made = Array.from({ length: 20 }, generateClientSecret)
  expect(new Set(made.map(({ client_secret }) => client_secret)).size).toBe(20)
  const [{ client_secret, client_secret_hash } = generateClientSecret()] = made
  expect(client_secret).toMatch(/^[\w-]{43}$/)
  expect(client_secret_hash).toMatch(/^sha256:[\w-]{43}$/)
  const { come } = serverOf(client_secret_hash)
  expect(await come(basic('a', client_secret))).toBe('tokens')
  const other = [' ', `${client_secret} `, client_secret.slice(1), client_secret.toUpperCase()]
  for (const wrong of [...other, client_secret_hash, client_secret_hash.slice(7)])
    expect(await come(basic('a', wrong))).toBe(refused)
})

describe('hashClientSecret', () => {
  test('digests by bcrypt at cost 10, with a salt', async () => {
    const [one, other] = await Promise.all(['secret', 'secret'].map(hashClientSecret))
    expect(one).toMatch(/^\$2b\$10\$[./A-Za-z0-9]{53}$/)
    expect(one).not.toBe(other)
  })

  test.each(['', 'x'.repeat(73), 'é'.repeat(37), '🔑'.repeat(19)])(
    'refuses %j in place of cutting it, and does not quote it',
    async (secret) => {
      const message = 'A client secret must have 1 to 72 bytes; generateClientSecret() makes a good one.'
      await expect(hashClientSecret(secret)).rejects.toEqual(new RangeError(message))
    },
  )
})

const cheap = (secret: string, cost = 4) => bcrypt.hashSync(secret, cost)

test.each([
  ['of PHP', cheap('secret').replace('$2b$', '$2y$'), 'secret', 'wrong'],
  ['of old programs', cheap('secret').replace('$2b$', '$2a$'), 'secret', 'wrong'],
  ['of a secret with a NUL', cheap('sec\0ret'), 'sec\0ret', 'sec'],
  ['of a secret, and not of one with a NUL behind it', cheap('secret'), 'secret', 'secret\0more'],
  ['of 72 bytes, and not of more', cheap('x'.repeat(72)), 'x'.repeat(72), 'x'.repeat(327)],
  ['of whole letters', cheap(`${'x'.repeat(70)}é`), `${'x'.repeat(70)}é`, `${'x'.repeat(71)}é`],
])('A bcrypt digest is %s [client-9, client-10]', async (_, hash, right, wrong) => {
  const { come } = serverOf(hash)
  for (const secret of [wrong, right, wrong])
    expect(await come(basic('a', secret))).toBe(secret === right ? 'tokens' : refused)
})

describe('What a guess costs', () => {
  // The comparisons are real.
  const compare = jest.spyOn(bcrypt, 'compare')
  const rounds = () =>
    compare.mock.calls.reduce((sum, [, digest]) => sum + 2 ** Number(digest.slice(4, 6)), 0)
  beforeEach(() => compare.mockClear())
  afterAll(() => compare.mockRestore())
  const generated = generateClientSecret()

  function crowd(most: readonly string[]) {
    const clients = registeredClients(memoryStore())
    const set = setStage({ clients, limits: { clientAuthentication: false } })
    const come = async (id: string, secret: string) =>
      outcomeOf(await set.flow.request({ registration: clientWith(id), secret }, grant))
    const add = (id: string, ...hashes: readonly string[]) => clients.add(clientWith(id, ...hashes))
    const ready = Promise.all([
      add('most', ...most),
      add('chosen', cheap('secret')),
      add('modern', generated.client_secret_hash),
      clients.add({ ...clientWith('off', cheap('secret')), disabled: true }),
    ])
    return { come, add, ready, clients, ...set }
  }

  test.each([
    ['one digest', [cheap('secret')]],
    ['two of different cost', [cheap('secret'), cheap('another', 6)]],
    ['one beside a generated secret', [generated.client_secret_hash, cheap('secret', 6)]],
  ])('is the same at every client, known or not, once one with %s was seen [client-8]', async (_, most) => {
    const { come, ready } = crowd(most)
    await ready
    expect(await come('most', 'wrong')).toBe(refused)
    const [before, calls] = [rounds(), compare.mock.calls.length]
    expect(before).toBeGreaterThanOrEqual(16)
    const sameCost = most.every((hash) => hash.startsWith('$2b$04'))
    for (const id of ['nobody', 'chosen', 'modern', 'off', 'most']) {
      compare.mockClear()
      expect(await come(id, id === 'off' ? 'secret' : 'wrong')).toBe(refused)
      expect(rounds()).toBe(before)
      expect(sameCost ? compare.mock.calls.length : calls).toBe(calls)
    }
    compare.mockClear()
    expect(await come('modern', generated.client_secret)).toBe('tokens')
    expect(rounds()).toBe(0)
  })

  test('is no bcrypt where no client has a digest of it', async () => {
    const { come, asked } = serverOf(generated.client_secret_hash)
    expect([await come(basic('a', 'wrong')), asked, rounds()]).toEqual([refused, ['a'], 0])
  })

  test('is a comparison each time, and a right secret is compared once in five minutes, by nobody else [client-18]', async () => {
    const { come, ready, clock } = crowd([])
    await ready
    const compared = async (secret: string, outcome: string, times: number) => {
      compare.mockClear()
      expect(await come('chosen', secret)).toBe(outcome)
      expect([secret, compare.mock.calls.length]).toEqual([secret, times])
    }
    await compared('secret', 'tokens', 1)
    await compared('secret', 'tokens', 0)
    for (const wrong of ['wrong', 'wrong', 'secre', 'decoy']) await compared(wrong, refused, 1)
    clock.advance(299.999)
    await compared('secret', 'tokens', 0)
    clock.advance(0.001)
    await compared('secret', 'tokens', 1)
    clock.advance(299.999)
    await compared('secret', 'tokens', 0)
  })

  test('is paid by a secret that its client has no more, at once, however often it came [client-17]', async () => {
    const { come, ready, clients, add } = crowd([])
    await ready
    expect(await come('chosen', 'secret')).toBe('tokens')
    await add('other', cheap('another'))
    await clients.update('chosen', (client) => ({ ...client, client_secret_hashes: [cheap('another')] }))
    for (const id of ['chosen', 'other', 'nobody']) expect(await come(id, 'secret')).toBe(refused)
  })

  test.each<[string, string, Record<string, unknown>]>([
    ['an unknown client', 'nobody', {}],
    ['an unknown client and a made-up key', 'nobody', { kid: 'made up' }],
    ['a client without keys', 'nightly-report', {}],
    ['an unknown key', 'bank', { kid: 'made up' }],
    ['another algorithm', 'bank', { alg: 'RS256' }],
    ...['RS512', 'PS256', 'ES384', 'EdDSA'].map((alg): [string, string, Record<string, unknown>] => [
      `an unknown client by ${alg}`,
      'nobody',
      { alg },
    ]),
  ])('is one verification of a signature for %s', async (_, id, header) => {
    const own = signer('bank', '1')
    const keys = JSON.parse(JSON.stringify([own.jwk]))
    const bank = { ...clientWith('bank'), credentials: { private_key_jwt: { keys } } }
    const algorithms = ['RS256', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA']
    const { flow, clock } = setStage({
      clients: [bank, nightlyReport.registration],
      plugins: [privateKeyJwt({ algorithms })],
    })
    const exp = Math.floor(clock.read() / 1000) + 60
    const claims = { iss: id, sub: id, aud: 'http://localhost', exp, jti: randomUUID() }
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    const ask = async (client_assertion: string) =>
      outcomeOf(await flow.submit('/token', { ...grant, client_assertion_type, client_assertion }))
    const verify = jest.spyOn(globalThis.crypto.subtle, 'verify')
    expect(await ask(jwt(own, claims, header))).toBe(refused)
    expect(verify).toHaveBeenCalledTimes(1)
    // What is no such JWT costs none.
    for (const text of ['a.b.c', `x.${json(claims)}.x`, jwt(own, claims, { alg: 'none' })])
      expect(await ask(text)).toMatch(/^40[01] invalid_(client|request)$/)
    expect(verify).toHaveBeenCalledTimes(1)
    verify.mockRestore()
  })
})

/** Twenty clients whose store answers when all have asked, the last one first. */
const crowdOfTwenty = Array.from({ length: 20 }, (_, at) => {
  const { client_secret, client_secret_hash } = generateClientSecret()
  return { registration: clientWith(`client-${at}`, client_secret_hash), secret: client_secret }
})

test('Twenty clients at once get a token of their own each, and none for a wrong secret among them [token-22]', async () => {
  let waiting: (() => void)[] = []
  const find = async (clientId: string) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve)
      if (waiting.length < crowdOfTwenty.length) return
      for (const release of waiting.toReversed()) setImmediate(release)
      waiting = []
    })
    return crowdOfTwenty.find(({ registration }) => registration.client_id === clientId)?.registration
  }
  const { flow } = setStage({ clients: { find } })
  const seen = await Promise.all(
    crowdOfTwenty.map(async ({ registration, secret }, at) => {
      const { client_id } = registration
      const client_secret = at % 3 === 0 ? 'wrong' : secret
      const response =
        at % 2 === 0
          ? await flow.request({ registration, secret: client_secret }, grant)
          : await flow.submit('/token', { ...grant, client_id, client_secret })
      if (response.status !== 200) return response.status
      return (await flow.photos(response.body.access_token)).body.clientId
    }),
  )
  expect(seen).toEqual(
    crowdOfTwenty.map(({ registration }, at) => (at % 3 === 0 ? 401 : registration.client_id)),
  )
})
