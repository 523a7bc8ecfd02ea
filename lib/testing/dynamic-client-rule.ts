import type { DynamicClient, DynamicClientStore } from '../stores/dynamic-client-store'
import { registration } from './client-registry-rules'
import { type ContractRule, pass, type UnderTest } from './contract-rule'

/** The store under test, empty when a rule begins. */
export interface DynamicClientsUnderTest extends UnderTest {
  readonly clients: DynamicClientStore
}

type Run = (clients: DynamicClientStore, wait: (seconds: number) => Promise<void>) => Promise<void>

export const rule = (title: string, run: Run): ContractRule<DynamicClientsUnderTest> => ({
  title,
  run: (underTest) => run(underTest.clients, (seconds) => pass(underTest, seconds)),
})

export function client(client_id: string, description = ''): DynamicClient {
  return {
    registration: registration(client_id, {
      client_secret_hashes: [`sha256:${'a'.repeat(43)}`],
      description,
    }),
    issuedAt: 1,
    secretExpiries: [2],
    registrationTokenDigest: 'b'.repeat(43),
    issuerDigest: 'Zk3-_qVb09XxYyAa',
    tokenLifetime: 2,
  }
}

/** Undefined if the store then holds none. */
export async function add(
  clients: DynamicClientStore,
  added: DynamicClient,
  lifetime: number,
  maximum: number,
): Promise<DynamicClient | undefined> {
  const result = await clients.add({ client: added, lifetime, maximum })
  return 'client' in result ? result.client : undefined
}

export const described = (description: string) => (current: DynamicClient) => ({
  ...current,
  registration: { ...current.registration, description },
})

export const oneMore = (current: DynamicClient) =>
  described(`${current.registration.description ?? ''}x`)(current)

export const lifetime = 600
export const maximum = 1000
