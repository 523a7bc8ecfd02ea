import { hash } from 'bcrypt'
import { generateClientSecret, hashClientSecret } from '../../lib/client-authentication/client-secret'
import { isBcryptHash, isSecretHash } from '../../lib/protocol/client'
import { matchesSecretHash } from '../support/rooms/secrets'

const generated = generateClientSecret()

/** As hashClientSecret makes it, but quick. */
const quick = (secret: string) => hash(secret, 4)

describe('generateClientSecret (REG-3)', () => {
  it('makes 256 bits in 43 characters that need no encoding anywhere [client-12]', () => {
    expect(generated.client_secret).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(Buffer.from(generated.client_secret, 'base64url')).toHaveLength(32)
  })

  it('makes a digest that a registration takes, and that is not slow to check', () => {
    expect(generated.client_secret_hash).toMatch(/^sha256:[A-Za-z0-9_-]{43}$/)
    expect(isSecretHash(generated.client_secret_hash)).toBe(true)
    expect(isBcryptHash(generated.client_secret_hash)).toBe(false)
  })

  it('makes another one each time', () => {
    const made = new Set(Array.from({ length: 100 }, () => generateClientSecret().client_secret))
    expect(made.size).toBe(100)
  })

  it('makes a digest that only its secret matches', async () => {
    const { client_secret, client_secret_hash } = generated
    await expect(matchesSecretHash(client_secret, client_secret_hash)).resolves.toBe(true)
    for (const wrong of ['', ' ', `${client_secret} `, client_secret.slice(1), client_secret.toUpperCase()])
      await expect(matchesSecretHash(wrong, client_secret_hash)).resolves.toBe(false)
  })
})

describe('hashClientSecret (REG-3)', () => {
  it('makes a bcrypt digest of cost 10 in 60 characters, which a registration takes', async () => {
    const made = await hashClientSecret('correct horse')
    expect(made).toMatch(/^\$2b\$10\$[./A-Za-z0-9]{53}$/)
    expect(isSecretHash(made)).toBe(true)
    await expect(matchesSecretHash('correct horse', made)).resolves.toBe(true)
    await expect(matchesSecretHash('correct horsf', made)).resolves.toBe(false)
  })

  it('salts', async () => {
    expect(await hashClientSecret('secret')).not.toBe(await hashClientSecret('secret'))
  })

  it.each([
    ['an empty secret', ''],
    ['73 bytes', 'x'.repeat(73)],
    ['37 letters of two bytes', 'é'.repeat(37)],
    ['19 emoji of four bytes', '🔑'.repeat(19)],
  ])('refuses %s, instead of cutting it', async (_what, secret) => {
    const attempt = hashClientSecret(secret)
    await expect(attempt).rejects.toThrow(RangeError)
    await expect(attempt).rejects.toThrow(
      'A client secret must have 1 to 72 bytes; generateClientSecret() makes a good one.',
    )
  })

  it('refuses without naming the secret', async () => {
    const secret = 'opensesame'.repeat(10)
    await expect(hashClientSecret(secret)).rejects.not.toThrow('opensesame')
  })

  it.each([
    ['72 bytes', 'x'.repeat(72)],
    ['36 letters of two bytes', 'é'.repeat(36)],
    ['one letter', 'x'],
  ])('takes %s', async (_what, secret) => {
    const made = await hashClientSecret(secret)
    await expect(matchesSecretHash(secret, made)).resolves.toBe(true)
  })
})

describe('matchesSecretHash', () => {
  it.each([73, 100, 255, 256, 300, 1000])(
    'never matches a secret of %i bytes by its first 72',
    async (length) => {
      const beginning = 'x'.repeat(72)
      const made = await quick(beginning)
      await expect(matchesSecretHash(beginning + 'x'.repeat(length - 72), made)).resolves.toBe(false)
    },
  )

  it('never matches a longer secret whose letter is cut at byte 72', async () => {
    const made = await quick('x'.repeat(71) + 'é')
    await expect(matchesSecretHash('x'.repeat(71) + 'é', made)).resolves.toBe(false)
  })

  it('does not stop at a NUL [client-10]', async () => {
    const made = await quick('secret')
    await expect(matchesSecretHash('secret\0', made)).resolves.toBe(false)
    await expect(matchesSecretHash('secret\0more', made)).resolves.toBe(false)
    const withNul = await quick('sec\0ret')
    await expect(matchesSecretHash('sec', withNul)).resolves.toBe(false)
    await expect(matchesSecretHash('sec\0other', withNul)).resolves.toBe(false)
  })

  it.each([
    ['$2a$', 'old programs'],
    ['$2y$', 'PHP'],
  ])('matches %s digests, made by %s', async (version) => {
    const made = (await quick('secret')).replace('$2b$', version)
    expect(isSecretHash(made)).toBe(true)
    await expect(matchesSecretHash('secret', made)).resolves.toBe(true)
    await expect(matchesSecretHash('wrong', made)).resolves.toBe(false)
  })
})
