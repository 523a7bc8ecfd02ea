import bcrypt from 'bcrypt'
import {
  bcryptPasswords,
  hashPassword,
  type FindPasswordOwner,
  type PasswordOwner,
} from '../../../../lib/index'
import { clientWith } from '../../../support/authorization/client'

const alice = { subject: 'user-1', passwordHash: bcrypt.hashSync('wonderland', 4) }
const find: FindPasswordOwner = async (username) => (username === 'alice' ? alice : undefined)
const request = { client: clientWith() }
const verifyWith =
  (finder: FindPasswordOwner, verify = bcryptPasswords(finder)) =>
  async (username: string, password: string) =>
    verify(username, password, request)
// A host in JavaScript finds anything.
const javascript: { bcryptPasswords(find: unknown): ReturnType<typeof bcryptPasswords> } = { bcryptPasswords }

// The comparisons are real; only their number and what they compare with is looked at.
const compare = jest.spyOn(bcrypt, 'compare')
const costs = () => compare.mock.calls.map(([, digest]) => Number(digest.slice(4, 6)))
beforeEach(() => compare.mockClear())

describe('bcryptPasswords', () => {
  it('returns the subject for the right password, and undefined for anything else', async () => {
    const verify = verifyWith(find)
    expect(await verify('alice', 'wonderland')).toBe('user-1')
    for (const wrong of ['', 'wonderlan', 'Wonderland', 'wonderland\0', alice.passwordHash])
      expect(await verify('alice', wrong)).toBeUndefined()
    expect(await verify('bob', 'wonderland')).toBeUndefined()
  })

  it('costs one comparison for the right password', async () => {
    await verifyWith(find)('alice', 'wonderland')
    expect(costs()).toEqual([4])
  })

  it('costs the same rounds for every refusal, however long the password is and whatever digests cost', async () => {
    const dear = { subject: 'user-2', passwordHash: bcrypt.hashSync('x', 11) }
    const owners = new Map<string, PasswordOwner>(Object.entries({ alice, dear }))
    const verify = verifyWith((name) => owners.get(name))
    const roundsOf = async (username: string, password: string) => {
      compare.mockClear()
      expect(await verify(username, password)).toBeUndefined()
      return costs().reduce((rounds, cost) => rounds + 2 ** cost, 0)
    }
    const attempts: readonly (readonly [string, string])[] = [
      ['alice', 'wrong'],
      ['alice', 'x'.repeat(1000)],
      ['bob', 'wrong'],
      ['bob', 'x'.repeat(1000)],
    ]
    for (const attempt of attempts) expect(await roundsOf(...attempt)).toBe(2 ** 10)
    await verify('dear', 'wrong')
    for (const attempt of attempts) expect(await roundsOf(...attempt)).toBe(2 ** 11)
    expect(await roundsOf('dear', 'wrong')).toBe(2 ** 11)
  })

  it('costs for an unknown name, and for an owner without a password, what stored ones cost [password-12]', async () => {
    const stored = { subject: 'user-2', passwordHash: bcrypt.hashSync('x', 11) }
    const none = { subject: 'user-3', passwordHash: undefined }
    const owners = new Map<string, PasswordOwner>(Object.entries({ stored, none }))
    const verify = verifyWith((name) => owners.get(name))
    await verify('nobody', 'x')
    await verify('stored', 'x')
    await verify('nobody', 'x')
    await verify('none', 'x')
    expect(costs()).toEqual([10, 11, 11, 11])
  })

  it('takes digests of PHP', async () => {
    const passwordHash = alice.passwordHash.replace('$2b$', '$2y$')
    expect(await verifyWith(() => ({ ...alice, passwordHash }))('alice', 'wonderland')).toBe('user-1')
  })

  it('never takes a password of more than 72 bytes for its beginning [password-13]', async () => {
    const passwordHash = bcrypt.hashSync('x'.repeat(72), 4)
    const verify = verifyWith(() => ({ ...alice, passwordHash }))
    expect(await verify('alice', 'x'.repeat(72))).toBe('user-1')
    expect(await verify('alice', 'x'.repeat(73))).toBeUndefined()
  })

  it.each([
    ['without a subject', { passwordHash: alice.passwordHash }],
    ['with an empty one', { ...alice, subject: '' }],
    ['with a password in clear', { ...alice, passwordHash: 'wonderland' }],
    ['with an empty digest', { ...alice, passwordHash: '' }],
    ['that is a text', 'user-1'],
    ['that is true', true],
  ])('throws on an owner %s, without the found value', async (_, found) => {
    const verify = javascript.bcryptPasswords(() => found)
    const attempt = (async () => verify('alice', 'wonderland', request))()
    await expect(attempt).rejects.toThrow(TypeError)
    await expect(attempt).rejects.not.toThrow(/wonderland|user-1/)
  })

  it('takes null for no owner', async () => {
    expect(await verifyWith(() => null)('alice', 'x')).toBeUndefined()
    expect(compare).toHaveBeenCalledTimes(1)
  })
})

describe('hashPassword', () => {
  it('makes a digest that bcryptPasswords() takes', async () => {
    const passwordHash = await hashPassword('wonderland')
    expect(passwordHash).toMatch(/^\$2b\$10\$/)
    expect(await verifyWith(() => ({ ...alice, passwordHash }))('alice', 'wonderland')).toBe('user-1')
  })

  it.each(['', 'opensesame'.repeat(8), 'é'.repeat(37)])(
    'refuses %j, and does not repeat it',
    async (password) => {
      await expect(hashPassword(password)).rejects.toThrow(
        new RangeError('A password must have 1 to 72 bytes.'),
      )
    },
  )
})
