import { hasCredentials } from '../../lib/protocol/client'
import { clientWith, registration } from '../support/authorization/client'

describe('hasCredentials', () => {
  it('is so for a confidential client', () => {
    expect(hasCredentials(clientWith())).toBe(true)
  })

  it('is so for a public client that was issued a secret', () => {
    expect(hasCredentials(clientWith({ client_type: 'public' }))).toBe(true)
    expect(registration.client_secret_hashes).toHaveLength(1)
  })

  it('is not so for a public client without', () => {
    expect(hasCredentials(clientWith({ client_type: 'public', client_secret_hashes: [] }))).toBe(false)
  })
})
