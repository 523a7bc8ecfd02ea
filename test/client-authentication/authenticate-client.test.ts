import { ClientVerification } from '../../lib/client-authentication/authenticate-client'
import { clientSecretBasic } from '../../lib/client-authentication/basic'
import { clientSecretPost, none } from '../../lib/client-authentication/built-in-methods'
import { generateClientSecret, SecretVerifier } from '../../lib/client-authentication/client-secret'
import type { ClientAuthenticationMethod } from '../../lib/client-authentication/method'
import { ClientCredential } from '../../lib/client-authentication/read-credential'
import { clientWith } from '../support/authorization/client'
import { authenticatingServer } from '../support/rooms/authenticating-server'
import { clientsOf } from '../support/rooms/endpoints'
import { refusalOf } from '../support/rooms/refused'
import { noLimits } from '../support/rooms/secrets'

describe('ClientVerification', () => {
  const old = generateClientSecret()
  const fresh = generateClientSecret()
  const printer = clientWith({ client_secret_hashes: [old.client_secret_hash, fresh.client_secret_hash] })
  const phone = clientWith({ client_id: 'phone', client_type: 'public', client_secret_hashes: [] })
  const onlyPost = clientWith({
    client_id: 'only-post',
    token_endpoint_auth_method: 'client_secret_post',
    client_secret_hashes: [old.client_secret_hash],
  })
  const oddPhone = clientWith({
    client_id: 'odd-phone',
    client_type: 'public',
    client_secret_hashes: [old.client_secret_hash],
  })
  const shutOut = clientWith({
    client_id: 'shut-out',
    disabled: true,
    client_secret_hashes: [fresh.client_secret_hash],
  })
  const shutOutPhone = clientWith({
    client_id: 'shut-out-phone',
    client_type: 'public',
    client_secret_hashes: [],
    disabled: true,
  })
  const findClient = clientsOf(printer, phone, onlyPost, oddPhone, shutOut, shutOutPhone)

  const secrets = new SecretVerifier(Date.now)
  const byBasic = clientSecretBasic(secrets)
  const byPost = clientSecretPost(secrets)

  const atServer = authenticatingServer()
  const verification = new ClientVerification(findClient, noLimits, atServer)
  const ignored = () => undefined
  const sender = { address: ignored, networkRefusal: undefined, clientFound: ignored, useLast: ignored }
  const authenticate = (method: ClientAuthenticationMethod, clientId: string, credential: string) =>
    verification.verify(new ClientCredential(clientId, credential, method), sender)

  it.each([
    ['Basic', byBasic],
    ['the body', byPost],
  ])('proves a client by its secret in %s', async (_where, method) => {
    await expect(authenticate(method, printer.client_id, fresh.client_secret)).resolves.toEqual({
      client: printer,
      byOldSecret: false,
    })
  })

  it('accepts an old secret during a rotation, and reports it (REG-13)', async () => {
    await expect(authenticate(byBasic, printer.client_id, old.client_secret)).resolves.toEqual({
      client: printer,
      byOldSecret: true,
    })
  })

  it('accepts the client_id of a public client without credentials', async () => {
    await expect(authenticate(none, 'phone', '')).resolves.toEqual({
      client: phone,
      byOldSecret: false,
    })
  })

  it.each([
    ['an unknown client', byBasic, 'nobody', old.client_secret, 'client_unknown'],
    ['an unknown client that only names itself', none, 'nobody', '', 'client_unknown'],
    [
      'a disabled client with its secret (REG-13)',
      byBasic,
      'shut-out',
      fresh.client_secret,
      'client_disabled',
    ],
    ['a disabled client with a wrong secret', byPost, 'shut-out', 'wrong', 'client_disabled'],
    ['a disabled public client', none, 'shut-out-phone', '', 'client_disabled'],
    ['a wrong secret', byBasic, printer.client_id, 'wrong', 'client_not_authenticated'],
    ['an empty secret', byPost, printer.client_id, '', 'client_not_authenticated'],
    [
      'the digest instead of the secret',
      byBasic,
      printer.client_id,
      old.client_secret_hash,
      'client_not_authenticated',
    ],
    [
      'the digest without its prefix',
      byBasic,
      printer.client_id,
      old.client_secret_hash.slice(7),
      'client_not_authenticated',
    ],
    [
      'a confidential client that only names itself (REG-2)',
      none,
      printer.client_id,
      '',
      'client_not_authenticated',
    ],
    [
      'a public client with credentials that only names itself',
      none,
      'odd-phone',
      '',
      'client_not_authenticated',
    ],
    ['a secret of a client that has none', byBasic, 'phone', 'secret', 'client_not_authenticated'],
    [
      'another method than the registered one',
      byBasic,
      'only-post',
      old.client_secret,
      'client_method_not_registered',
    ],
  ] as const)('refuses %s', async (_what, method, clientId, credential, reason) => {
    expect(await refusalOf(authenticate(method, clientId, credential))).toEqual({
      code: 'invalid_client',
      reason,
    })
  })

  it('gives every refusal one description', async () => {
    const attempts = [
      authenticate(byBasic, 'nobody', 'x'),
      authenticate(byBasic, printer.client_id, 'x'),
      authenticate(byBasic, 'only-post', old.client_secret),
      authenticate(byBasic, 'shut-out', fresh.client_secret),
    ]
    const messages = await Promise.all(
      attempts.map((attempt) => attempt.catch(({ message }: Error) => message)),
    )
    expect(new Set(messages)).toEqual(new Set(['Client authentication failed.']))
  })

  it('takes the registered method', async () => {
    await expect(authenticate(byPost, 'only-post', old.client_secret)).resolves.toHaveProperty(
      'client',
      onlyPost,
    )
  })

  it('asks the method about an unknown client, too, so that it can cost the same', async () => {
    const verify = jest.fn(async () => true)
    const attempt = authenticate({ name: 'costly', read: () => undefined, verify }, 'nobody', 'secret')
    expect(await refusalOf(attempt)).toHaveProperty('reason', 'client_unknown')
    expect(verify).toHaveBeenCalledWith(undefined, 'secret', expect.any(Function), atServer, sender)
  })

  it('verifies a disabled client like an unknown one, so that its secret changes nothing', async () => {
    const verify = jest.fn(async () => true)
    const method = { name: 'costly', read: () => undefined, verify }
    expect(await refusalOf(authenticate(method, 'shut-out', fresh.client_secret))).toHaveProperty(
      'reason',
      'client_disabled',
    )
    expect(verify).toHaveBeenCalledWith(
      undefined,
      fresh.client_secret,
      expect.any(Function),
      atServer,
      sender,
    )
  })
})
