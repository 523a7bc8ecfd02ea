import { resolveOptions } from '../../../lib/config/resolve-options'
import { registrationEndpoint } from '../../../lib/clients/dynamic-registration/register'
import type { DynamicClientAddition } from '../../../lib/clients/dynamic-client-store'
import { memoryDynamicClients } from '../../../lib/index'
import { noEvidence } from '../../../lib/protocol/evidence'
import { Parameters } from '../../../lib/protocol/parameters'
import { callback, optionsWith } from '../../support/rooms/registrations'

/** Registers a client from an address. Resolves to the network under which the store counts the client. */
async function networkOf(address: string | undefined): Promise<string | undefined> {
  const additions: DynamicClientAddition[] = []
  const store = memoryDynamicClients()
  const add = store.add.bind(store)
  store.add = (addition) => {
    additions.push(addition)
    return add(addition)
  }
  const { dynamicRegistration } = resolveOptions(optionsWith({ dynamicRegistration: { store } }))
  if (dynamicRegistration === undefined) throw new Error('Dynamic registration is off.')
  const endpoint = registrationEndpoint(dynamicRegistration)
  if (endpoint.clientAuthentication !== 'none') throw new Error('Registration authenticates clients.')
  await endpoint.handle({
    method: 'POST',
    target: '/register',
    secure: true,
    headers: {},
    certificate: undefined,
    evidence: noEvidence,
    client: undefined,
    parameters: Parameters.none,
    json: { redirect_uris: [callback], token_endpoint_auth_method: 'none' },
    address,
    sender: { address: () => address, networkRefusal: undefined },
  })
  expect(additions).toHaveLength(1)
  return additions[0]?.network
}

describe('The name of the network of a registration', () => {
  it('is one for each /48 of IPv6, and for each IPv4 address', async () => {
    const name = await networkOf('2001:db8:1:2::1')
    expect(await networkOf('2001:db8:1:ffff::2')).toBe(name)
    expect(await networkOf('2001:db8:2:2::1')).not.toBe(name)
    expect(await networkOf('192.0.2.1')).toBe(await networkOf('::ffff:192.0.2.1'))
    expect(await networkOf('192.0.2.1')).not.toBe(await networkOf('192.0.2.2'))
    expect(await networkOf(undefined)).toBe(await networkOf('elsewhere'))
  })

  it('is so short that it names no address: hundreds of IPv4 addresses share it', async () => {
    expect(await networkOf('192.0.2.1')).toMatch(/^[\w-]{4}$/)
  })
})
