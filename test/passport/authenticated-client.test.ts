import { authenticatedClient, provenClient, rememberClient } from '../../lib/passport/client-verification'
import { clientWith } from '../support/authorization/client'
import { plainRequest } from '../support/rooms/form-request'

const client = clientWith()

describe('authenticatedClient', () => {
  it('knows the client that was proven for this request, and for no other', () => {
    const request = plainRequest()
    rememberClient(request, { client, byOldSecret: false })
    expect(authenticatedClient(request)).toBe(client)
    expect(authenticatedClient(plainRequest())).toBeUndefined()
  })

  it('knows of this request, and of no other, whether an old secret proved its client', () => {
    const [old, current] = [plainRequest(), plainRequest()]
    rememberClient(old, { client, byOldSecret: true })
    rememberClient(current, { client, byOldSecret: false })
    expect([old, current, plainRequest()].map((request) => provenClient(request)?.byOldSecret)).toEqual([
      true,
      false,
      undefined,
    ])
  })

  it('takes nothing that somebody wrote onto the request for a proof', () => {
    const claims = { user: client, client, authenticatedClient: client, oauth: { client } }
    expect(authenticatedClient(Object.assign(plainRequest(), claims))).toBeUndefined()
  })

  it('leaves nothing on the request', () => {
    const request = plainRequest()
    const before = Object.getOwnPropertyNames(request)
    rememberClient(request, { client, byOldSecret: false })
    expect(Object.getOwnPropertyNames(request)).toEqual(before)
  })
})
