import { ConfigurationError } from '../../lib/protocol/configuration'
import { memoryClients } from '../../lib/stores/memory-clients'
import { waitingClients } from '../support/stores/waiting-clients'
import { clientObjectsContract } from './client-objects-contract'
import { clientRegistryContract } from '../../lib/testing/index'

clientRegistryContract('memoryClients keeps the contract', () => ({ clients: memoryClients() }))
clientRegistryContract('memoryClients keeps the contract behind a wait', () => ({
  clients: waitingClients(memoryClients()),
}))
clientObjectsContract('memoryClients keeps objects', memoryClients)

describe('memoryClients in production', () => {
  const before = process.env['NODE_ENV']
  beforeEach(() => {
    process.env['NODE_ENV'] = 'production'
  })
  afterEach(() => {
    process.env['NODE_ENV'] = before
  })

  it('is refused, with the cure, because a restart would forget every client', () => {
    expect(() => memoryClients()).toThrow(ConfigurationError)
    expect(() => memoryClients()).toThrow('redisStore({ url }).clients')
  })

  it('is there for who insists', async () => {
    expect(await memoryClients({ allowInProduction: true }).list()).toEqual([])
  })
})
