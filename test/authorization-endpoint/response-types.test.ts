import { codeResponseType, implicit } from '../../lib/authorization-endpoint/response-types'
import { ConfigurationError } from '../../lib/primitives/options-reader'
import { digest } from '../../lib/protocol/credential'
import { pendingAuthorization } from '../support/authorization/authorization'
import { context } from '../support/authorization/issue-context'

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

// A method, not a function type: so the checker lets a JavaScript host's options through, whatever they are.
const javascript: { implicit(options: unknown): unknown } = { implicit }

describe('the response type token', () => {
  it('answers in the fragment with an access token alone', () => {
    const { pending } = pendingAuthorization()
    const type = implicit()
    expect(type).toMatchObject({ name: 'token', grantTypes: ['implicit'], mode: 'fragment' })
    expect(type.approve(pending, context())).toMatchObject({
      authorization: { state: 'active', spentCode: undefined, refreshToken: undefined },
      parameters: {},
      issued: { scope: pending.scope, refreshToken: undefined },
    })
  })

  it('redirects by the header by default', () => {
    expect(implicit().redirectBy).toBe('location')
    expect(implicit({ redirectBy: 'page' }).redirectBy).toBe('page')
  })

  it.each<[unknown, string]>([
    [{ redirectBy: 'popup' }, "redirectBy must be 'location' or 'page'."],
    [
      { redirectby: 'page' },
      'redirectby is not known here. Did you mean redirectBy? The known names are redirectBy.',
    ],
    [null, 'options must be an object.'],
  ])('refuses the options %j', (options, message) => {
    expect(() => javascript.implicit(options)).toThrow(ConfigurationError)
    expect(() => javascript.implicit(options)).toThrow(message)
  })
})
