import { hashSync } from 'bcrypt'
import { digest } from '../../lib/protocol/credential'
import { isBcryptHash, isSecretHash } from '../../lib/protocol/client'

const chosen = hashSync('a secret that a person chose', 4)
const generated = `sha256:${digest('a generated secret')}`

describe('isSecretHash', () => {
  it.each([chosen, generated])('knows %s', (hash) => {
    expect(isSecretHash(hash)).toBe(true)
  })

  it.each([
    '',
    'secret',
    'sha256:',
    digest('x'),
    `${generated}=`,
    `${chosen}x`,
    ` ${chosen}`,
    `${generated}\n`,
  ])('takes %j for a secret, not for a digest', (text) => {
    expect(isSecretHash(text)).toBe(false)
  })
})

describe('isBcryptHash', () => {
  it('tells the two kinds apart', () => {
    expect(isBcryptHash(chosen)).toBe(true)
    expect(isBcryptHash(generated)).toBe(false)
  })
})
