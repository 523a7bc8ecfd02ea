import { grantableScope } from '../../lib/protocol/scope'
import { clientWith } from '../support/authorization/client'
import { thrownBy } from '../support/authorization/thrown'

const client = clientWith({ scope: 'photos.read photos.write' })

describe('grantableScope', () => {
  it('is what the request names', () => {
    expect(grantableScope('photos.write', client, ['photos.read'])).toEqual(['photos.write'])
    expect(grantableScope('photos.write photos.read', client, [])).toEqual(['photos.write', 'photos.read'])
  })

  it('is the default when the request names none', () => {
    expect(grantableScope(undefined, client, ['photos.read'])).toEqual(['photos.read'])
  })

  it('is no more of the default than the client may ask for', () => {
    expect(grantableScope(undefined, client, ['profile', 'photos.read'])).toEqual(['photos.read'])
  })

  it.each([
    ['there is no default', undefined, [], 'scope_missing'],
    ['nothing of the default is open to the client', undefined, ['profile'], 'scope_missing'],
    ['it is empty', '', ['photos.read'], 'scope_malformed'],
    ['it is malformed', 'photos.read  photos.write', [], 'scope_malformed'],
    ['it is unknown', 'videos.read', [], 'scope_not_allowed'],
    ['it is spelt in other letters', 'Photos.Read', [], 'scope_not_allowed'],
    ["part of it is another client's", 'photos.read profile', [], 'scope_not_allowed'],
    ['it is the default, but not open to the client', 'profile', ['profile'], 'scope_not_allowed'],
  ])('is refused when %s', (_why, requested, defaultScope, reason) => {
    const error = thrownBy(() => grantableScope(requested, client, defaultScope))
    expect(error).toMatchObject({ code: 'invalid_scope', reason })
    expect(error.description).not.toContain('profile')
  })
})
