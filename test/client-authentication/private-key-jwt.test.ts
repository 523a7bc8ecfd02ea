import { privateKeyJwt, type Client, type Json } from '../../lib/index'
import { claimsAt, jwt, signer, type Signer } from '../support/assertions/jwt'
import { clientWith } from '../support/authorization/client'
import { noon } from '../support/authorization/issue-context'
import { authenticatingServer } from '../support/rooms/authenticating-server'
import { freely } from '../support/rooms/secrets'

const own = signer('printer', '1')
const foreign = signer('printer', '1')
const rsa = signer('printer', '2', 'RS256')
const jwks: Json = JSON.parse(JSON.stringify({ keys: [own.jwk] }))
const secretHolder = clientWith()
const keyHolder: Client = { ...secretHolder, credentials: { private_key_jwt: jwks } }
const method = privateKeyJwt()

const assertionBy = (by: Signer, header: object = {}): string =>
  jwt(by, { ...claimsAt(noon, own), sub: 'printer', aud: 'https://photos.example' }, { ...header })

const verify = (client: Client | undefined, assertion: string, server = authenticatingServer()) =>
  method.verify(client, assertion, freely, server)

describe('privateKeyJwt()', () => {
  afterEach(() => jest.restoreAllMocks())

  it('proves a client by its key', async () => {
    await expect(verify(keyHolder, assertionBy(own))).resolves.toBe(true)
  })

  it.each<[string, Client | undefined, string]>([
    ['a wrong signature', keyHolder, assertionBy(foreign)],
    ['an unknown key', keyHolder, assertionBy(own, { kid: 'made up' })],
    ['another algorithm', keyHolder, assertionBy(rsa)],
    ['an unknown client', undefined, assertionBy(own)],
    ['an unknown client and a made-up key', undefined, assertionBy(own, { kid: 'made up' })],
    ['an unknown client and another algorithm', undefined, assertionBy(rsa)],
    ['a client without keys', secretHolder, assertionBy(own)],
  ])('costs one verification for %s', async (_, client, assertion) => {
    const verification = jest.spyOn(globalThis.crypto.subtle, 'verify')
    await expect(verify(client, assertion).catch(() => false)).resolves.toBe(false)
    expect(verification).toHaveBeenCalledTimes(1)
  })

  it('throws no reason for an unknown client, which the server refuses itself', async () => {
    for (const assertion of [assertionBy(own), assertionBy(own, { typ: 'at+jwt' })])
      await expect(verify(undefined, assertion)).resolves.toBe(false)
  })

  it.each([
    [12, undefined],
    [13, 'must have at most 12 keys.'],
  ])('reads %i registered keys: %s', (count, mistake) => {
    const keys: Json = JSON.parse(JSON.stringify(Array.from({ length: count }, () => own.jwk)))
    expect(method.mistakeIn?.({ keys })).toBe(mistake)
  })

  it('uses nothing up unless the signature is right', async () => {
    const counters = { add: jest.fn(), useOnce: jest.fn(async () => true) }
    const server = authenticatingServer({ counters })
    await verify(keyHolder, assertionBy(foreign), server).catch(() => false)
    await verify(undefined, assertionBy(own), server)
    expect(counters.useOnce).not.toHaveBeenCalled()
    await verify(keyHolder, assertionBy(own), server)
    expect(counters.useOnce).toHaveBeenCalledWith(
      expect.stringMatching(/^private_key_jwt:[A-Za-z0-9_-]{43}$/),
      360,
      'printer',
    )
  })

  it('does not take failing counters for a refusal', async () => {
    const useOnce = () => Promise.reject(new Error('connection refused'))
    const server = authenticatingServer({ counters: { add: jest.fn(), useOnce } })
    await expect(verify(keyHolder, assertionBy(own), server)).rejects.toThrow('connection refused')
  })
})
