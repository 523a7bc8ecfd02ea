import * as fc from 'fast-check'
import { clientSecretBasic } from '../../lib/client-authentication/built-in-methods'
import type { PresentedClient } from '../../lib/client-authentication/method'
import { SecretVerifier } from '../../lib/client-authentication/client-secret'
import { passportHttpProof } from '../../lib/passport/strategies'
import { ClientVerification } from '../../lib/passport/client-verification'
import { temporarilyUnavailable } from '../../lib/protocol/oauth-error'
import { clientWith } from '../support/authorization/client'
import { anyText } from '../support/rooms/arbitrary-text'
import { plainRequest } from '../support/rooms/form-request'
import { refusalOf } from '../support/rooms/refused'
import { noLimits } from '../support/rooms/secrets'

const method = clientSecretBasic(new SecretVerifier(Date.now))
const proven = { client: clientWith(), byOldSecret: true }

/** A verification that keeps what it is asked. */
class Watched extends ClientVerification {
  readonly asked: PresentedClient[] = []

  constructor(private readonly answer: () => Promise<typeof proven> = async () => proven) {
    super(
      [],
      async () => undefined,
      noLimits,
      () => Promise.reject(new Error('Nothing is read here.')),
    )
  }

  override verify(presented: PresentedClient): ReturnType<ClientVerification['verify']> {
    this.asked.push(presented)
    return this.answer()
  }
}

describe('passportHttpProof', () => {
  it('brings any identifier and secret through passport-http unharmed', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyText, async (clientId, credential) => {
        const verification = new Watched()
        const presented = { method, clientId, credential }
        await expect(passportHttpProof(method, verification)(presented, plainRequest())).resolves.toBe(proven)
        expect(verification.asked).toEqual([presented])
      }),
    )
  })

  it('leaves the header of the request as it came', async () => {
    const request = plainRequest({ authorization: 'Basic b3JpZ2luYWw6YXMgaXQgY2FtZQ==', host: 'localhost' })
    await passportHttpProof(method, new Watched())({ method, clientId: 'a:b', credential: 'c:d' }, request)
    expect(request.headers).toEqual({
      authorization: 'Basic b3JpZ2luYWw6YXMgaXQgY2FtZQ==',
      host: 'localhost',
    })
  })

  it.each([
    ['trouble', temporarilyUnavailable('store_unavailable', 'x')],
    ['what breaks', new TypeError('broken')],
  ])('ends in %s as it is', async (_what, error) => {
    const prove = passportHttpProof(method, new Watched(() => Promise.reject(error)))
    await expect(prove({ method, clientId: 'a', credential: 'b' }, plainRequest())).rejects.toBe(error)
  })

  it.each([
    ['identifier', '', 'secret'],
    ['secret', 'client', ''],
  ])('refuses an empty %s, which passport-http does not take', async (_what, clientId, credential) => {
    const verification = new Watched()
    const attempt = passportHttpProof(method, verification)({ method, clientId, credential }, plainRequest())
    expect(await refusalOf(attempt)).toEqual({ code: 'invalid_client', reason: 'basic_refused' })
    expect(verification.asked).toEqual([])
  })

  it('keeps two proofs at once apart', async () => {
    const answers = [clientWith({ client_id: 'first' }), clientWith({ client_id: 'second' })]
    const waiting: (() => void)[] = []
    const verification = new Watched(async () => {
      const answer = answers[waiting.length]
      await new Promise<void>((resolve) => waiting.push(resolve))
      return answer === undefined ? proven : { client: answer, byOldSecret: false }
    })
    const prove = passportHttpProof(method, verification)
    const proofs = ['first', 'second'].map((clientId) =>
      prove({ method, clientId, credential: 'x' }, plainRequest()),
    )
    for (const release of waiting.toReversed()) release()
    expect((await Promise.all(proofs)).map(({ client }) => client.client_id)).toEqual(['first', 'second'])
  })
})
