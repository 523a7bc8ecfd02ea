import { clientSecretBasic } from '../../lib/client-authentication/basic'
import { SecretVerifier } from '../../lib/client-authentication/client-secret'
import type { Client } from '../../lib/protocol/client'
import { clientWith } from '../support/authorization/client'
import { noLimits } from '../support/rooms/secrets'

const method = clientSecretBasic(new SecretVerifier(Date.now))

/** A client that counts how often its registration was gone through. */
function countedClient(): { readonly client: Client; readonly reads: () => number } {
  let reads = 0
  const client = Object.defineProperty({ ...clientWith({}) }, 'description', {
    enumerable: true,
    get: () => `read ${(reads += 1)} times`,
  })
  return { client, reads: () => reads }
}

const guess = (client: Client, credential: string, attempt = async () => false) =>
  noLimits.of({ method, clientId: client.client_id, credential }, client, () => '192.0.2.7')(attempt)

describe('CredentialThrottle', () => {
  it('reads a registration once, so that known and unknown clients cost the same', async () => {
    const { client, reads } = countedClient()
    for (const credential of ['one', 'another', 'a third']) await guess(client, credential)
    expect(reads()).toBe(1)
  })

  it('shares what is under way for one credential of one registration, and of no other', async () => {
    const [before, after] = [clientWith({}), clientWith({ description: 'Changed.' })]
    let attempts = 0
    const attempt = async () => {
      attempts += 1
      await new Promise((resolve) => setImmediate(resolve))
      return true as const
    }
    const all = [before, { ...before }, before].map((client) => guess(client, 'the same', attempt))
    expect(await Promise.all(all)).toEqual([true, true, true])
    expect(attempts).toBe(1)
    await Promise.all([before, after].map((client) => guess(client, 'the same', attempt)))
    expect(attempts).toBe(3)
  })
})
