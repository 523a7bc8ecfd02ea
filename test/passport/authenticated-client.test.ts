import { authenticatedClient, rememberClient } from '../../lib/passport/authenticated-client'
import { clientWith } from '../support/authorization/client'
import { plainRequest } from '../support/rooms/form-request'

const client = clientWith()

describe('authenticatedClient', () => {
  it('knows the client that was proven for this request, and for no other', () => {
    const request = plainRequest()
    rememberClient(request, client)
    expect(authenticatedClient(request)).toBe(client)
    expect(authenticatedClient(plainRequest())).toBeUndefined()
  })

  it('takes nothing that somebody wrote onto the request for a proof', () => {
    const claims = { user: client, client, authenticatedClient: client, oauth: { client } }
    expect(authenticatedClient(Object.assign(plainRequest(), claims))).toBeUndefined()
  })

  it('leaves nothing on the request', () => {
    const request = plainRequest()
    const before = Object.getOwnPropertyNames(request)
    rememberClient(request, client)
    expect(Object.getOwnPropertyNames(request)).toEqual(before)
  })
})
