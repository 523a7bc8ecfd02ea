import * as crypto from 'node:crypto'
import { inspect } from 'node:util'
import {
  type AuthorizationServerOptions,
  type ClientRegistration,
  generateClientSecret,
  hashClientSecret,
  memoryStore,
  OAuthError,
  type Store,
  type VerifyDigest,
} from '../../lib/index'
import { deviceAuthorization } from '../../lib/paths/devices'
import { pushedAuthorizationRequests } from '../../lib/paths/pushed-requests'
import { registeredClients } from '../../lib/paths/registration'
import { application } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { Gate } from '../support/flows/gate'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { describeOnRegistry } from '../support/flows/registry-stage'
import { but } from '../support/stores/but'
import { waitUntil } from '../support/wait-until'

const refused = '401 invalid_client'
const hostFailed = '400 temporarily_unavailable'
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const secret = 'open sesame'

type Make = (secret: string, salt: string) => Buffer

// Node has argon2 from version 24 on.
const argon2: unknown = Reflect.get(crypto, 'argon2Sync')
const cheap = { parallelism: 1, tagLength: 32, memory: 8, passes: 1 }

/** The digests of other servers, at the least cost: what they cost is not the matter here. */
const makers: Readonly<Record<string, Make>> = {
  pbkdf2: (message, salt) => crypto.pbkdf2Sync(message, salt, 10, 32, 'sha256'),
  scrypt: (message, salt) => crypto.scryptSync(message, salt, 32, { N: 16 }),
  hex: (message) => crypto.createHash('sha256').update(message).digest(),
  ...(typeof argon2 === 'function' && {
    argon2: (message: string, salt: string): Buffer =>
      argon2('argon2id', { ...cheap, message, nonce: Buffer.from(salt) }),
  }),
}

const digestOf = (text: string, form = 'hex', salt: string = crypto.randomUUID()) => {
  const hash = makers[form]?.(text, salt).toString('hex') ?? ''
  return form === 'hex' ? hash : `$${form}$${salt}$${hash}`
}

const verify: VerifyDigest = (digest, presented) => {
  const [, form, salt] = digest.split('$')
  return digestOf(presented, form, salt) === digest
}

const clientWith = (client_id: string, ...client_secret_hashes: readonly string[]): ClientRegistration => ({
  client_id,
  client_type: 'confidential',
  client_secret_hashes,
  redirect_uris: ['https://old.example/callback'],
  grant_types: ['authorization_code', 'client_credentials', deviceCode],
  scope: 'photos:read',
  may_introspect: true,
})
const deviceCode = 'urn:ietf:params:oauth:grant-type:device_code'
const plugins = [
  deviceAuthorization({ secret: 'a secret that the processes of this test share' }),
  pushedAuthorizationRequests(),
]

/** A server with these clients, which the host holds, and what its function was asked. */
function serverOf(
  clients: AuthorizationServerOptions['clients'],
  options: Partial<AuthorizationServerOptions> = {},
) {
  const asked: string[] = []
  const clock = new Clock()
  const answer = options.verifyDigest ?? verify
  const verifyDigest: VerifyDigest = (digest, presented) => {
    asked.push(digest)
    return answer(digest, presented)
  }
  const set = application({ clients, plugins, clock: clock.read, ...options, verifyDigest })
  const ask = (client_id: string, presented = secret, path?: string, fields = {}) => {
    const client = { registration: clientWith(client_id), secret: presented }
    return set.flow.request(client, { ...grant, ...fields }, path)
  }
  const come = async (client_id: string, presented?: string) => outcomeOf(await ask(client_id, presented))
  return { ...set, asked, clock, ask, come }
}

// The first of this file: all deadlines share one timer, which must begin as a fake one, and end so.
test('A function that does not answer within ten seconds ends the attempt', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'Date'] })
  const verifyDigest = () => new Promise<boolean>(() => {})
  const { come, asked, failures } = serverOf([clientWith('moved', digestOf(secret))], { verifyDigest })
  const outcome = come('moved')
  while (asked.length === 0) await new Promise(setImmediate)
  await jest.advanceTimersByTimeAsync(10_100)
  expect([await outcome, failures.at(-1)?.reason]).toEqual([hostFailed, 'secret_check_failed'])
  await jest.advanceTimersByTimeAsync(100)
  jest.useRealTimers()
})

test.each(Object.keys(makers))('A digest by %s proves its secret alone', async (form) => {
  const { come } = serverOf([clientWith('moved', digestOf(secret, form))])
  expect(await come('moved', 'wrong')).toBe(refused)
  expect(await come('moved')).toBe('tokens')
  expect(await come('nobody')).toBe(refused)
})

test('A digest of another server proves its client at every endpoint', async () => {
  const { ask } = serverOf([clientWith('moved', digestOf(secret))])
  const request = authorizationRequest({ registration: clientWith('moved') })
  for (const [path, good, fields] of [
    ['/token', 200, {}],
    ['/revoke', 200, { token: 'x' }],
    ['/introspect', 200, { token: 'x' }],
    ['/par', 201, { ...request, grant_type: undefined }],
    ['/device_authorization', 200, { grant_type: undefined }],
  ] as const) {
    expect([path, (await ask('moved', 'wrong', path, fields)).status]).toEqual([path, 401])
    expect([path, (await ask('moved', secret, path, fields)).status]).toEqual([path, good])
  }
})

test('Every refusal asks as often as for the client with the most such digests, and a decoy proves nobody', async () => {
  const made = generateClientSecret().client_secret_hash
  const [one, two, off] = ['x', secret, 'z'].map((each) => digestOf(each, 'scrypt'))
  const limits = { clientAuthentication: false } as const
  const { come, asked } = serverOf(
    [
      clientWith('one', String(one)),
      clientWith('two', String(one), String(two)),
      clientWith('modern', made),
      clientWith('bcrypt', await hashClientSecret('another')),
      { ...clientWith('off', String(off)), disabled: true },
    ],
    { limits },
  )
  const callsOf = async (client_id: string, presented?: string) => {
    asked.length = 0
    return [await come(client_id, presented), asked.length]
  }
  expect(await callsOf('modern')).toEqual([refused, 0])
  expect(await callsOf('two', 'wrong')).toEqual([refused, 2])
  for (const client_id of ['nobody', 'one', 'two', 'modern', 'bcrypt', 'off'])
    for (const presented of client_id === 'two' ? ['wrong'] : ['wrong', secret])
      expect([client_id, ...(await callsOf(client_id, presented))]).toEqual([client_id, refused, 2])
})

test('A secret by a digest of another server may be a guess: limits count, and a right one is asked about once in five minutes', async () => {
  const limits = { clientAuthentication: { clientAndAddress: { attempts: 2 } } }
  const find = async (client_id: string) => clientWith(client_id, digestOf(secret, 'hex'))
  const { come, asked, clock } = serverOf({ find }, { limits })
  for (const [presented, outcome, calls] of [
    [secret, 'tokens', 1],
    ['wrong', refused, 2],
    ['wrong', refused, 3],
    ['wrong', '429 temporarily_unavailable', 3],
    [secret, 'tokens', 3],
  ] as const)
    expect([await come('moved', presented), asked.length]).toEqual([outcome, calls])
  clock.advance(300)
  expect([await come('moved'), asked.length]).toEqual(['tokens', 4])
})

test('Four secrets are verified at once and 32 wait, whether by bcrypt or by the host', async () => {
  const gate = new Gate()
  const clients = [
    clientWith('moved', digestOf(secret)),
    clientWith('bcrypt', await hashClientSecret(secret)),
  ]
  const verifyDigest = () => gate.pass().then(() => false)
  const { come } = serverOf(clients, { verifyDigest, limits: { clientAuthentication: false } })
  const guesses = Array.from({ length: 36 }, (_, at) => come('moved', `guess ${at}`))
  await waitUntil('four are verified', async () => gate.waiting === 4)
  expect([await come('bcrypt', 'wrong'), await come('moved', 'wrong')]).toEqual([hostFailed, hostFailed])
  gate.open()
  expect(new Set(await Promise.all(guesses))).toEqual(new Set([refused]))
})

describe('A function that fails', () => {
  const leak = (presented: string) => `${presented} is not the secret of ${digestOf(secret)}`
  const failing: Readonly<Record<string, VerifyDigest>> = {
    'that throws': (_, presented) => {
      throw new TypeError(leak(presented))
    },
    'that rejects': async (_, presented) => Promise.reject(new Error(leak(presented), { cause: presented })),
    'that rejects with a text': (_, presented) => Promise.reject(presented),
    'that refuses the client': () => {
      throw new OAuthError('invalid_client', 'wrong', 'Wrong.')
    },
    // Of a host without types.
    'that returns a number': async () => JSON.parse('1'),
    'that returns a text': async () => JSON.parse('"true"'),
    'that returns null': () => JSON.parse('null'),
    'that returns an object': () => JSON.parse('{ "verified": true }'),
  }

  test.each(Object.entries(failing))(
    '%s makes the server temporarily unavailable, for a good and an unknown client, and tells no secret',
    async (_, answer) => {
      const fails = { now: false }
      const verifyDigest: VerifyDigest = (...given) => (fails.now ? answer : verify)(...given)
      const { come, failures } = serverOf([clientWith('moved', digestOf(secret))], { verifyDigest })
      expect(await come('moved', 'wrong')).toBe(refused)
      fails.now = true
      for (const client_id of ['moved', 'nobody']) {
        expect(await come(client_id)).toBe(hostFailed)
        const event = failures.at(-1)
        expect(event).toMatchObject({ reason: 'secret_check_failed' })
        const told = inspect(event, { depth: 9, showHidden: true }) + JSON.stringify(event)
        for (const hidden of [secret, digestOf(secret).slice(0, 12)]) expect(told).not.toContain(hidden)
      }
      fails.now = false
      expect(await come('moved')).toBe('tokens')
    },
  )

  test('for one digest alone fails its own client, and no refusal of another', async () => {
    const broken = 'x'.repeat(32)
    const clients = [clientWith('broken', broken), clientWith('moved', digestOf(secret))]
    const verifyDigest: VerifyDigest = (digest, presented) => {
      if (digest === broken) throw new Error('Which form is this?')
      return verify(digest, presented)
    }
    const { come } = serverOf(clients, { verifyDigest })
    expect([await come('broken'), await come('nobody'), await come('moved')]).toEqual([
      hostFailed,
      refused,
      'tokens',
    ])
  })
})

/** Letters of every kind, but the words of a person. */
const sentence = 'TheQuickBrownFoxJumpsOverALazyDogAtTheZoo2x'
/** The same random bytes in each run: a few look chosen, which costs no more than bcrypt. */
const random = (bytes: number) => crypto.createHash('shake256', { outputLength: bytes }).update('').digest()
const bcryptForm = /^\$2b\$10\$/
const generatedForm = /^sha256:[\w-]{43}$/

describeOnRegistry('The first use of a digest of another server', (stage) => {
  /** Clients of a store, and which digests were written for them. */
  function storeStage(failing?: (key: string) => boolean) {
    const written = new Set<string>()
    const { store: inner } = stage()
    const write: Store['write'] = async (key, value, terms) => {
      if (failing?.(key)) throw new Error('The store cannot write.')
      const isWritten = await inner.write(key, value, terms)
      if (isWritten && key.startsWith('client:'))
        written.add(JSON.parse(value).registration.client_secret_hashes.join(' '))
      return isWritten
    }
    const store = but(inner, { write })
    const clients = registeredClients(store)
    const processOf = () => serverOf(clients, { store, limits: { clientAuthentication: false } })
    const hashes = async () => (await clients.find('moved'))?.client_secret_hashes ?? []
    return { ...processOf(), written, clients, processOf, hashes }
  }

  test.each([
    ['a chosen secret', secret, bcryptForm],
    ['a sentence', sentence, bcryptForm],
    ['a text that repeats', 'Ab1'.repeat(20), bcryptForm],
    ['a secret of 72 bytes', 'x'.repeat(72), bcryptForm],
    ['a secret as this suite generates it', random(32).toString('base64url'), generatedForm],
    ['32 random bytes in hexadecimal digits', random(32).toString('hex'), generatedForm],
    ['random bytes that bcrypt cannot hash', random(90).toString('base64'), generatedForm],
    ['a chosen secret that bcrypt cannot hash', 'x'.repeat(73), /^[\da-f]{64}$/],
  ])('of %s gives it the digest of this suite', async (_, presented, form) => {
    const { come, asked, clients, hashes, processOf } = storeStage()
    await clients.add(clientWith('moved', digestOf(presented)))
    expect([await come('moved', 'wrong'), await come('moved', presented)]).toEqual([refused, 'tokens'])
    expect(await hashes()).toEqual([expect.stringMatching(form)])
    const [calls, replaced] = [asked.length, await hashes()]
    expect([await come('moved', presented), asked.length]).toEqual(['tokens', calls])
    // Another process finds it so.
    const other = processOf()
    expect([await other.come('moved', presented), await other.come('moved', 'wrong')]).toEqual([
      'tokens',
      refused,
    ])
    expect(other.asked.length).toBe(form.source.includes('64') ? 2 : 0)
    expect(await hashes()).toEqual(replaced)
  })

  test('leaves a rotation its order: the secret before is the old one still', async () => {
    const { come, oauth, clients, hashes } = storeStage()
    await clients.add(clientWith('moved', digestOf('older'), digestOf(secret)))
    const old: unknown[] = []
    oauth.events.on('oldSecretUsed', ({ clientId }) => old.push(clientId))
    const { client_secret } = await oauth.rotateClientSecret('moved')
    const [, current] = await hashes()
    expect([await come('moved', 'older'), await come('moved')]).toEqual([refused, 'tokens'])
    expect(await hashes()).toEqual([expect.stringMatching(bcryptForm), current])
    expect([await come('moved'), await come('moved', client_secret), old]).toEqual([
      'tokens',
      'tokens',
      ['moved', 'moved'],
    ])
    await oauth.dropOldClientSecrets('moved')
    expect(await come('moved')).toBe(refused)
  })

  test('replaces it once, however many requests come at once, at two processes', async () => {
    const { come, asked, clients, written, processOf } = storeStage()
    const other = processOf()
    await clients.add(clientWith('moved', digestOf(secret)))
    const all = Array.from({ length: 6 }, (_, at) => (at % 2 === 0 ? come : other.come)('moved'))
    expect(new Set(await Promise.all(all))).toEqual(new Set(['tokens']))
    // A request that did not wait for it may have noted the day of its use.
    written.delete(digestOf(secret))
    expect([written.size, asked.length, other.asked.length]).toEqual([1, 1, 1])
  })

  test('succeeds while the store cannot write the registration, and the next one replaces it', async () => {
    const fails = { now: false }
    const { come, clock, clients, hashes } = storeStage((key) => fails.now && key.startsWith('client:'))
    await clients.add(clientWith('moved', digestOf(secret)))
    fails.now = true
    expect([await come('moved'), await hashes()]).toEqual(['tokens', [digestOf(secret)]])
    fails.now = false
    clock.advance(300)
    expect([await come('moved'), await hashes()]).toEqual(['tokens', [expect.stringMatching(bcryptForm)]])
  })
})

test('The memory store replaces a digest at its first use, too; a list and a store of the host stay as they are', async () => {
  const store = memoryStore()
  const clients = registeredClients(store)
  const registration = () => clientWith('moved', digestOf(secret))
  await clients.add(registration())
  const list = [registration()]
  const find = async () => list[0]
  for (const given of [clients, list, { find }])
    expect(await serverOf(given, { store }).come('moved')).toBe('tokens')
  expect((await clients.find('moved'))?.client_secret_hashes).toEqual([expect.stringMatching(bcryptForm)])
  expect(list).toEqual([registration()])
})
