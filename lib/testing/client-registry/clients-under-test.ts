import type { ClientRegistration } from '../../protocol/client'
import type { ClientRegistry } from '../../stores/client-registry'
import type { ContractRule, UnderTest } from '../rule'

/** Registered clients to be put to the test: none yet. */
export interface ClientsUnderTest extends UnderTest {
  readonly clients: ClientRegistry
}

export function clientsRule(
  title: string,
  run: (clients: ClientRegistry) => Promise<void>,
): ContractRule<ClientsUnderTest> {
  return { title, run: ({ clients }) => run(clients) }
}

/** A good registration, bent. */
export function registration(client_id: string, bend: Partial<ClientRegistration> = {}): ClientRegistration {
  const redirect_uris = ['https://client.example/callback']
  return { client_id, client_type: 'public', redirect_uris, scope: 'a', ...bend }
}

/** A change of a registration. */
export const described = (description: string) => (current: ClientRegistration) => ({
  ...current,
  description,
})

/** A change that shows how often it was made. */
export const oneMore = (current: ClientRegistration) => described(`${current.description ?? ''}x`)(current)
