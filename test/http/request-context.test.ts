import { RequestContexts } from '../../lib/http/request-context'
import { clientWith } from '../support/authorization/client'
import { plainRequest } from '../support/rooms/form-request'

const proven = { client: clientWith(), byOldSecret: false }

describe('RequestContexts', () => {
  it('knows what was kept of a request, and nothing of any other', () => {
    const contexts = new RequestContexts()
    const request = plainRequest()
    contexts.of(request).client = proven
    expect(contexts.of(request).client).toBe(proven)
    expect(contexts.of(plainRequest()).client).toBeUndefined()
  })

  it('knows nothing of what another server keeps of the same request', () => {
    const request = plainRequest()
    new RequestContexts().of(request).client = proven
    expect(new RequestContexts().of(request).client).toBeUndefined()
  })

  it('takes no property of the request for a proof, and leaves none there', () => {
    const { client } = proven
    const request = Object.assign(plainRequest(), { user: client, client, oauth: { client } })
    const before = Object.getOwnPropertyNames(request)
    expect(new RequestContexts().of(request).client).toBeUndefined()
    expect(Object.getOwnPropertyNames(request)).toEqual(before)
  })
})
