import { expiryOf } from '../../lib/authorization/authorization'
import { credentialId, hasDigest } from '../../lib/protocol/credential'
import { pendingAuthorization, proposal } from '../support/authorization/authorization'
import { lifetimes, noon } from '../support/authorization/issue-context'

describe('propose', () => {
  const { pending, handle } = pendingAuthorization()

  it('begins an authorization with all that was asked', () => {
    expect(pending).toMatchObject({ ...proposal, state: 'pending' })
  })

  it('gives the consent form a handle that names the record, and the record its digest only', () => {
    expect(credentialId('authorizationRequest', handle)).toBe(pending.id)
    expect(hasDigest(handle, pending.handle)).toBe(true)
    expect(JSON.stringify(pending)).not.toContain(handle)
  })

  it('waits for an answer as long as a request lives', () => {
    expect(expiryOf(pending)).toBe(noon + lifetimes.authorizationRequest)
  })

  it('gives each request an id and a handle of its own', () => {
    const other = pendingAuthorization()
    expect(other.pending.id).not.toBe(pending.id)
    expect(other.handle).not.toBe(handle)
  })
})
