import { hash } from 'bcrypt'
import {
  bcryptHash,
  costOf,
  decoyHash,
  firstBcryptMatch,
  fitsBcrypt,
} from '../../lib/client-authentication/bcrypt'
import { isBcryptHash } from '../../lib/protocol/client'

describe('what bcrypt reads', () => {
  it.each([
    ['x', true],
    ['x'.repeat(72), true],
    ['é'.repeat(36), true],
    ['', false],
    ['x'.repeat(73), false],
    ['é'.repeat(37), false],
  ])('%j fits: %s', (secret, fits) => {
    expect(fitsBcrypt(secret)).toBe(fits)
  })

  it('never takes a longer secret for its beginning', async () => {
    const made = await hash('x'.repeat(72), 4)
    expect(await firstBcryptMatch('x'.repeat(72), [made])).toBe(made)
    expect(await firstBcryptMatch('x'.repeat(73), [made])).toBeUndefined()
  })
})

it('knows the digests of PHP', async () => {
  const made = (await hash('secret', 4)).replace('$2b$', '$2y$')
  expect(await firstBcryptMatch('secret', [made])).toBe(made)
  expect(await firstBcryptMatch('Secret', [made])).toBeUndefined()
})

it('digests at cost 10', async () => {
  expect(costOf(await bcryptHash('secret'))).toBe(10)
})

it.each([4, 10, 12])('has a decoy of cost %i, which is a digest like any other', (cost) => {
  expect(isBcryptHash(decoyHash(cost))).toBe(true)
  expect(costOf(decoyHash(cost))).toBe(cost)
})
