import { codeResponseType } from '../../../lib/authorization-endpoint/response-types'
import { digest } from '../../../lib/protocol/credential'
import { pendingAuthorization } from '../../support/authorization/authorization'
import { context } from '../../support/authorization/issue-context'

describe('the response type code', () => {
  it('answers in the query with a code and nothing else', () => {
    const { pending } = pendingAuthorization()
    const { authorization, parameters } = codeResponseType.approve(pending, context())
    expect(codeResponseType).toMatchObject({ name: 'code', mode: 'query' })
    expect(parameters).toEqual({ code: expect.stringMatching(/^ac_[A-Za-z0-9_-]{64}$/) })
    expect(authorization).toMatchObject({
      state: 'approved',
      code: { digest: digest(parameters['code'] ?? '') },
    })
  })
})
