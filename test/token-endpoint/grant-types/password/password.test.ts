import { memoryCounters, OAuthError, password } from '../../../../lib/index'
import type { TokenRequest } from '../../../../lib/token-endpoint/grant-type'
import { normalizeForCount } from '../../../../lib/token-endpoint/grant-types/password/counted-name'
import { attemptLimits } from '../../../../lib/token-endpoint/grant-types/password/password'
import { clientWith } from '../../../support/authorization/client'
import { mistakesOf } from '../../../support/rooms/mistakes-of'
import { parametersOf } from '../../../support/rooms/parameters'
import { refusalOf } from '../../../support/rooms/refused'
import { tokenRequest } from '../../../support/rooms/token-request'

// A method, not a function type: so the checker lets a JavaScript host's options through, whatever they are.
const javascript: { password(options: unknown): ReturnType<typeof password> } = { password }
const issuesIn = (options: unknown) => mistakesOf({ make: (given) => javascript.password(given) }, options)

const good = { username: 'alice', password: 'wonderland', scope: 'photos.read' }
const ask = (
  verify: unknown,
  fields: Parameters<typeof parametersOf>[0] = {},
  bend: Partial<TokenRequest> = {},
) => {
  const parameters = parametersOf({ ...good, ...fields })
  return javascript
    .password({ verify })
    .handle({ ...tokenRequest, counters: memoryCounters(), parameters, ...bend })
}
const knows = (username: string, secret: string) =>
  username === 'alice' && secret === 'wonderland' ? 'user-1' : undefined

describe('the options of password()', () => {
  it.each([
    [{ verify: knows }],
    [{ verify: knows, limits: {} }],
    [{ verify: knows, limits: undefined }],
    [{ verify: knows, limits: { username: false, address: false, client: false } }],
    [{ verify: knows, limits: { username: { attempts: 1, seconds: 1 } } }],
  ])('may be %j', (options) => {
    expect(issuesIn(options)).toEqual([])
  })

  it.each([
    [{}, ['verify']],
    [{ verify: 'bcrypt' }, ['verify']],
    [undefined, ['options', 'verify']],
    [{ verify: knows, limit: {} }, ['limit']],
    [{ verify: knows, limits: null }, ['limits']],
    [{ verify: knows, limits: 5 }, ['limits']],
    [{ verify: knows, limits: { user: {} } }, ['limits.user']],
    [{ verify: knows, limits: { username: { attempts: 0 } } }, ['limits.username.attempts']],
    [
      { limits: { client: { seconds: 0 }, address: true } },
      ['verify', 'limits.address', 'limits.client.seconds'],
    ],
  ])('may not be %j: every mistake is reported', (options, paths) => {
    expect(issuesIn(options).map(({ path }) => path)).toEqual(paths)
  })
})

describe('the grant type password', () => {
  it('reads user name, password and scope', () => {
    expect(password({ verify: knows })).toMatchObject({
      name: 'password',
      parameters: ['username', 'password', 'scope'],
    })
  })

  it.each([
    [['password', 'refresh_token'], true],
    [['password'], false],
  ])('proves an owner, to a client with the grants %j with refresh: %s (TOK-11)', async (grants, refresh) => {
    const client = { ...clientWith(), grant_types: grants }
    expect(await ask(knows, {}, { client })).toEqual({
      grant: { subject: 'user-1', scope: ['photos.read'], refreshToken: refresh, extensionData: {} },
    })
  })

  it('asks the host with the very texts of the request, and for which client', async () => {
    const verify = jest.fn(async () => 'x')
    const client = clientWith()
    await ask(verify, { username: ' Ä:%+\0', password: '__proto__ ' }, { client })
    expect(verify).toHaveBeenCalledWith(' Ä:%+\0', '__proto__ ', { client })
  })

  it.each([undefined, null, false])('takes %s of the host for a refusal', async (verdict) => {
    expect(await refusalOf(ask(() => verdict))).toEqual({ code: 'invalid_grant', reason: 'password_refused' })
  })

  it.each([true, '', 0, 1, {}, [], { subject: 'user-1' }, Symbol('x'), () => 'user-1'])(
    'takes anything else for a fault of the host',
    async (verdict) => {
      expect(await refusalOf(ask(() => verdict))).toEqual({
        code: 'server_error',
        reason: 'password_verification_failed',
      })
    },
  )

  it.each([
    ['an error', new Error('the database is down')],
    ['a refusal of ours', new OAuthError('invalid_grant', 'x', 'Wrong password for alice.')],
    ['nothing', undefined],
  ])(
    'takes %s that the host throws as a failure with its cause, of which the client learns nothing',
    async (_, thrown) => {
      for (const verify of [
        () => {
          throw thrown
        },
        async () => Promise.reject(thrown),
      ])
        await expect(ask(verify)).rejects.toMatchObject({
          code: 'server_error',
          reason: 'password_verification_failed',
          description: 'The server met an unexpected condition.',
          cause: thrown,
        })
    },
  )

  it.each([
    ['username', 1024, 'password_refused'],
    ['username', 1025, 'password_credentials_too_long'],
    ['password', 1024, 'password_refused'],
    ['password', 1025, 'password_credentials_too_long'],
  ])('of a %s of %i bytes makes %s', async (name, bytes, reason) => {
    const verify = jest.fn(() => undefined)
    const text = 'é'.repeat(512) + 'x'.repeat(bytes - 1024)
    expect(await refusalOf(ask(verify, { [name]: text }))).toEqual({ code: 'invalid_grant', reason })
    expect(verify).toHaveBeenCalledTimes(bytes > 1024 ? 0 : 1)
  })

  it.each([
    [{ username: undefined }, 'invalid_request'],
    [{ username: '' }, 'invalid_request'],
    [{ username: ['alice', 'alice'] }, 'invalid_request'],
    [{ password: undefined }, 'invalid_request'],
    [{ password: '' }, 'invalid_request'],
    [{ password: ['wonderland', ''] }, 'invalid_request'],
    [{ scope: 'profile' }, 'invalid_scope'],
    [{ scope: undefined }, 'invalid_scope'],
  ])('of %j gives %s, without a call of verify', async (fields, code) => {
    const verify = jest.fn(knows)
    expect((await refusalOf(ask(verify, fields))).code).toBe(code)
    expect(verify).not.toHaveBeenCalled()
  })

  it('counts towards 10 failures of a user name, 100 of an address and 1000 of a client by default', async () => {
    const stands = { address: 1, username: 1, client: 1 }
    const add = jest.fn(async (key: string, _amount: 1 | -1, _seconds: number) => {
      const [, kind] = key.split(':')
      return { count: new Map(Object.entries(stands)).get(kind ?? '') ?? 0, secondsLeft: 900 }
    })
    const counters = { ...memoryCounters(), add }
    const reasonAt = async (bend: Partial<typeof stands>) => {
      Object.assign(stands, { address: 1, username: 1, client: 1 }, bend)
      return (await refusalOf(ask(() => undefined, {}, { counters }))).reason
    }
    expect(await reasonAt({ address: 100, username: 10, client: 1000 })).toBe('password_refused')
    expect(add.mock.calls).toEqual([
      [expect.stringMatching(/^password:address:/), 1, 900],
      [expect.stringMatching(/^password:username:/), 1, 900],
      [expect.stringMatching(/^password:client:/), 1, 900],
    ])
    expect(await reasonAt({ address: 101 })).toBe('password_address_limited')
    expect(await reasonAt({ username: 11 })).toBe('password_username_limited')
    expect(await reasonAt({ client: 1001 })).toBe('password_client_limited')
  })
})

const limits = {
  username: { attempts: 1, seconds: 10 },
  address: { attempts: 2, seconds: 20 },
  client: { attempts: 3, seconds: 30 },
}
const client = clientWith()
const keysOf = (username: string, bend: { address?: string; client_id?: string } = {}) => {
  const named = clientWith({ client_id: bend.client_id ?? 'photo-printer' })
  return attemptLimits({ client: named, address: bend.address }, username, limits).map(({ key }) => key)
}

describe('what a guess at a password counts towards', () => {
  it('is its address, its user name and its client, in this order', () => {
    const found = attemptLimits({ client, address: '192.0.2.7' }, 'alice', limits)
    expect(found.map(({ attempts, seconds }) => [attempts, seconds])).toEqual([
      [2, 20],
      [1, 10],
      [3, 30],
    ])
  })

  it('has a reason of its own each, and one text', () => {
    const errors = attemptLimits({ client, address: undefined }, 'alice', limits).map(({ refusal }) =>
      refusal(7),
    )
    expect(errors.map(({ reason }) => reason)).toEqual([
      'password_address_limited',
      'password_username_limited',
      'password_client_limited',
    ])
    expect(new Set(errors.map(({ code, description }) => `${code}: ${description}`)).size).toBe(1)
    expect(errors).toEqual(errors.map(() => expect.objectContaining({ retryAfter: 7 })))
  })

  it('leaves out what is switched off', () => {
    const off = { ...limits, address: undefined, client: undefined }
    const found = attemptLimits({ client, address: '192.0.2.7' }, 'alice', off)
    expect(found.map(({ attempts }) => attempts)).toEqual([1])
  })

  it('gives a store neither name nor address', () => {
    for (const key of keysOf('alice', { address: '192.0.2.7' }))
      expect(key).toMatch(/^password:(?:username|address|client):[A-Za-z0-9_-]{43}$/)
  })

  it('counts each kind apart, even with equal values', () => {
    expect(new Set(keysOf('unknown', { client_id: 'unknown' })).size).toBe(3)
  })
})

describe('the name that guesses are counted under', () => {
  it.each([
    'Alice',
    'ALICE',
    ' alice',
    'alice  ',
    'al ice',
    'alice\t',
    'alice\u0000',
    '\u200Balice',
    'alic\u00ADe',
    'álicé',
    'a\u0301lice',
    'ａｌｉｃｅ',
    '𝒶𝓁𝒾𝒸𝑒',
    'a\u1DC4lice',
    'ali\uFE0Fce',
    'ali\u3164ce',
    'aⅼıce',
    'ałice',
    'ⱥlɨȼɇ',
  ])('is one for %j and alice', (spelling) => {
    expect(normalizeForCount(spelling)).toBe('alice')
  })

  it.each([
    ['straße', 'STRASSE'],
    ['ΟΔΥΣΣΕΥΣ', 'οδυσσευς'],
    ['ﬁne', 'fine'],
    ['straße', 'strase'],
    ['SØREN', 'soren'],
    ['Łukasz', 'lukasz'],
    ['Đorđe', 'dorde'],
    ['Ægir', 'aegir'],
    ['Œdipe', 'oedipe'],
    ['Þórður', 'thordur'],
    ['Ħamrun', 'hamrun'],
    ['ŋaŧi', 'nati'],
  ])('is one for %s and %s', (one, other) => {
    expect(normalizeForCount(one)).toBe(normalizeForCount(other))
  })

  it.each(['bob', 'alice2', 'alice@example.com', 'मीना', '__proto__', 'constructor'])(
    'is another one for %s than for alice',
    (name) => {
      expect(normalizeForCount(name)).not.toBe(normalizeForCount('alice'))
    },
  )

  it('distinguishes names whose vowels are marks', () => {
    expect(normalizeForCount('मीना')).not.toBe(normalizeForCount('मना'))
  })
})
