import { inspect } from 'node:util'
import bcrypt, { hashSync } from 'bcrypt'
import { bcryptPasswords, hashPassword, type PasswordOwner } from '../../lib/paths/grants'
import { photoFrame } from '../support/flows/clients'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { formOf, type Fields } from '../support/flows/flow'
import { oldPrint, PasswordCheck, passwordRequest, withPassword } from '../support/flows/password'
import { refusalOf, tokensOf } from '../support/flows/tokens'

// A method, not a function type: so the checker lets through what a host wrote in JavaScript.
const javascript: { pass(value: unknown): never } = { pass: (value: never) => value }
const unchecked = (value: unknown): never => javascript.pass(value)

const wrongText = 'The user name or the password is wrong.'
const { client_id } = oldPrint.registration

const open = (stage: SetStage) => {
  const check = new PasswordCheck()
  return { ...stage(withPassword({ verify: check.verify })), check }
}

describeOnStores('The password grant', (stage) => {
  test('has one answer for an unknown name, a wrong password and what is too long [password-11]', async () => {
    const { flow, failures, store } = open(stage)
    const bends = [
      { password: 'looking-glass' },
      { username: 'nobody' },
      { username: 'bob' },
      { password: 'x'.repeat(1025) },
      { username: 'x'.repeat(10_000) },
    ]
    for (const bend of bends) {
      const response = await flow.request(oldPrint, { ...passwordRequest, ...bend })
      expect(refusalOf(response)).toBe('400 invalid_grant')
      expect(response.body.error_description).toBe(wrongText)
    }
    expect(failures.map(({ reason }) => reason)).toEqual([
      ...Array.from({ length: 3 }, () => 'password_refused'),
      ...Array.from({ length: 2 }, () => 'password_credentials_too_long'),
    ])
    expect(store.calls.write).toBe(0)
  })

  test.each(['username', 'password'])(
    'looks at a %s of 1024 bytes, and at none that is longer',
    async (name) => {
      const { flow, check, failures } = open(stage)
      for (const text of ['x'.repeat(1024), 'x'.repeat(1025), 'é'.repeat(513)])
        expect(refusalOf(await flow.request(oldPrint, { ...passwordRequest, [name]: text }))).toBe(
          '400 invalid_grant',
        )
      expect(check.asked).toHaveLength(1)
      expect(failures.map(({ reason }) => reason)).toEqual([
        'password_refused',
        'password_credentials_too_long',
        'password_credentials_too_long',
      ])
    },
  )

  test.each(['username', 'password'])(
    'refuses a request with %s in its URI, and does not ask [password-14]',
    async (name) => {
      const { flow, check, failures } = open(stage)
      for (const fields of [passwordRequest, { ...passwordRequest, [name]: undefined }]) {
        const body = { ...fields, client_id, client_secret: oldPrint.secret }
        const response = await flow.submit(`/token?${formOf({ [name]: passwordRequest[name] })}`, body)
        expect(refusalOf(response)).toBe('400 invalid_request')
      }
      expect(failures.map(({ reason }) => reason)).toEqual(['credential_in_query', 'credential_in_query'])
      expect(check.asked).toEqual([])
    },
  )

  test.each(['__proto__', 'a\0b', ' ', '🔑'])(
    'hands the odd user name %j to the host as it is',
    async (username) => {
      const { flow, check } = open(stage)
      for (const odd of [{ username }, { password: username }])
        expect(refusalOf(await flow.request(oldPrint, { ...passwordRequest, ...odd }))).toBe(
          '400 invalid_grant',
        )
      expect(check.asked).toEqual([username, 'alice'])
    },
  )

  test('refuses a scope that is not open to the client, without asking [password-16]', async () => {
    const { flow, check } = open(stage)
    const response = await flow.request(oldPrint, { ...passwordRequest, scope: 'reports:write' })
    expect(refusalOf(response)).toBe('400 invalid_scope')
    expect(check.asked).toEqual([])
  })

  test('answers a fault of the host as one, with its cause in the event alone', async () => {
    const cause = new Error('the user database is down')
    for (const verify of [async () => Promise.reject(cause), () => JSON.parse('{"id":"alice"}')]) {
      const { flow, failures } = stage(withPassword({ verify }))
      const response = await flow.request(oldPrint, passwordRequest)
      expect(refusalOf(response)).toBe('500 server_error')
      expect(response.text).not.toContain('database')
      expect(failures).toEqual([
        expect.objectContaining({ reason: 'password_verification_failed', cause: expect.any(Error) }),
      ])
    }
  })

  test('puts no password and no user name into an event [password-15]', async () => {
    const { flow, failures } = open(stage)
    for (const bend of [
      { password: 'p'.repeat(40) },
      { password: 'p'.repeat(2000) },
      { username: 'somebody' },
    ])
      await flow.request(oldPrint, { ...passwordRequest, ...bend })
    expect(failures).toHaveLength(3)
    expect(inspect(failures, { depth: Infinity, showHidden: true })).not.toMatch(/p{40}|somebody|wonderland/)
  })

  test('works with passwords that are stored as bcrypt digests, those of PHP too, and never takes 72 bytes of one for the whole [password-13]', async () => {
    const digest = hashSync('wonderland', 4)
    const long = 'x'.repeat(72)
    const owners = new Map([
      ['alice', digest],
      ['php', digest.replace('$2b$', '$2y$')],
      ['long', hashSync(long, 4)],
    ])
    const verify = bcryptPasswords((name) => {
      const passwordHash = owners.get(name)
      return passwordHash === undefined ? null : { subject: `subject of ${name}`, passwordHash }
    })
    const { flow } = stage(withPassword({ verify }))
    const ask = (bend: Fields) => flow.request(oldPrint, { ...passwordRequest, ...bend })
    for (const bend of [{}, { username: 'php' }, { username: 'long', password: long }])
      tokensOf(await ask(bend))
    for (const bend of [
      { username: 'nobody' },
      { password: 'x' },
      { password: 'wonderland'.padEnd(73) },
      { password: digest },
      { username: 'long', password: `${long}x` },
    ])
      expect(refusalOf(await ask(bend))).toBe('400 invalid_grant')
  })

  test('is not open to a client by the secret of another [password-18]', async () => {
    const { flow, check } = open(stage)
    const thief = { ...oldPrint, secret: photoFrame.secret }
    expect(refusalOf(await flow.request(thief, passwordRequest))).toBe('401 invalid_client')
    expect(check.asked).toEqual([])
  })
})

describe('bcryptPasswords()', () => {
  const request = { client: unchecked(oldPrint.registration) }

  test('compares as dearly for unknown names and long passwords as for stored digests [password-12]', async () => {
    // The comparisons are real; only the cost of what they compare with is looked at.
    const compare = jest.spyOn(bcrypt, 'compare')
    const owners = new Map<string, PasswordOwner>([
      ['cheap', { subject: '1', passwordHash: hashSync('x', 4) }],
      ['dear', { subject: '2', passwordHash: hashSync('x', 11) }],
      ['none', { subject: '3', passwordHash: undefined }],
    ])
    const verify = bcryptPasswords((name) => owners.get(name))
    const roundsOf = async (username: string, password = 'wrong') => {
      compare.mockClear()
      expect(await verify(username, password, request)).toBeUndefined()
      return compare.mock.calls.reduce((rounds, [, digest]) => rounds + 2 ** Number(digest.slice(4, 6)), 0)
    }
    expect(await roundsOf('nobody')).toBe(2 ** 10)
    expect(await roundsOf('cheap')).toBe(2 ** 10)
    for (const name of ['dear', 'nobody', 'cheap', 'none']) expect(await roundsOf(name)).toBe(2 ** 11)
    expect(await roundsOf('cheap', 'x'.repeat(1000))).toBe(2 ** 11)
  })

  test.each([
    ['without a subject', { passwordHash: hashSync('wonderland', 4) }],
    ['with an empty one', { subject: '', passwordHash: hashSync('wonderland', 4) }],
    ['with a password in clear', { subject: 'user-1', passwordHash: 'wonderland' }],
    ['with an empty digest', { subject: 'user-1', passwordHash: '' }],
    ['that is a text', 'user-1'],
    ['that is true', true],
  ])('throws on an owner %s, and does not repeat it', async (_, found) => {
    const verify = bcryptPasswords(() => unchecked(found))
    const attempt = (async () => verify('alice', 'wonderland', request))()
    await expect(attempt).rejects.toThrow(TypeError)
    await expect(attempt).rejects.not.toThrow(/wonderland|user-1/)
  })
})

describe('hashPassword()', () => {
  test('makes a digest that bcryptPasswords() takes', async () => {
    const passwordHash = await hashPassword('wonderland')
    expect(passwordHash).toMatch(/^\$2b\$10\$/)
    const verify = bcryptPasswords(() => ({ subject: 'user-1', passwordHash }))
    expect(await verify('alice', 'wonderland', { client: unchecked({}) })).toBe('user-1')
  })

  test.each(['', 'opensesame'.repeat(8), 'é'.repeat(37)])(
    'refuses %j, and does not repeat it',
    async (text) => {
      await expect(hashPassword(text)).rejects.toThrow(new RangeError('A password must have 1 to 72 bytes.'))
    },
  )
})
